import { dirname, posix } from 'node:path'
import { tidyRule } from './rule.ts'
import { everything, type TextFile } from './tree.ts'

const paths = new Set(everything.map(({ path }) => path))
const texts = new Map(everything.map(({ path, text }) => [path, text]))

/** Whether a path is a file of the repository, or a folder with files. */
const exists = (path: string): boolean =>
  paths.has(path) || everything.some((file) => file.path.startsWith(`${path}/`))

/** The anchor that a heading has on the pages of a repository. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const anchors = (text: string): Set<string> =>
  new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading)))

function checkLinks({ path, text }: TextFile): string[] {
  const prose = text.replace(/```.*?```/gs, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return []
    const [target = '', anchor] = link.split('#')
    const file = target === '' ? path : posix.normalize(posix.join(dirname(path), target))
    if (!exists(file)) return [`${path} links to ${link}; there is no ${file}`]
    const there = file === path ? text : (texts.get(file) ?? '')
    if (anchor === undefined || anchors(there).has(anchor)) return []
    return [`${path} links to ${link}; ${file} has no such heading`]
  })
}

tidyRule('links of documents lead somewhere', {
  check: (files) => files.flatMap(checkLinks),
  on: everything.filter(({ path }) => path.endsWith('.md')),
  atLeast: 20,
  planted: [
    { path: 'docs/api.md', text: '[x](nowhere.md)', complaint: 'there is no docs/nowhere.md' },
    { path: 'docs/api.md', text: '[x](backup.md#no-such)', complaint: 'has no such heading' },
  ],
  fine: [
    {
      path: 'docs/api.md',
      text: '# A b\n[x](backup.md#questdb) [y](#a-b) [z](decisions) [w](https://example.org)',
    },
  ],
})

/** All folder names. ARCHITECTURE.md names files without `services/` and `.ts`. */
const areas = new Set(everything.flatMap(({ path }) => path.split('/').slice(0, -1)))

function checkPaths({ path, text }: TextFile): string[] {
  const prose = text.replace(/```.*?```/gs, '')
  return [...prose.matchAll(/`([a-z-]+)((?:\/[\w.-]+)+)\/?`/g)].flatMap(([, area = '', rest = '']) => {
    const named = `${area}${rest}`
    if (
      !areas.has(area) ||
      ['', 'services/'].some((from) => [named, `${named}.ts`].some((to) => exists(from + to)))
    )
      return []
    return [`${path} names ${named}; there is no such file or folder`]
  })
}

tidyRule('paths in documents of engineers exist', {
  check: (files) => files.flatMap(checkPaths),
  on: everything.filter(({ path }) => /^(ARCHITECTURE|CONTRIBUTING)\.md$|^docs\/decisions\//.test(path)),
  atLeast: 10,
  planted: [{ path: 'ARCHITECTURE.md', text: '`ingest/no-such`', complaint: 'names ingest/no-such' }],
  fine: [{ path: 'ARCHITECTURE.md', text: '`ingest/server`, `test/tidy`, `services/main.ts`, `deploy/fxd`' }],
})

/** Maximum sizes, so that a person reads README and ARCHITECTURE to their ends. */
const sizes: readonly { path: string; most: number; unit: 'lines' | 'bytes' }[] = [
  { path: 'README.md', most: 120, unit: 'lines' },
  { path: 'ARCHITECTURE.md', most: 15_000, unit: 'bytes' },
  { path: 'CONTRIBUTING.md', most: 140, unit: 'lines' },
]

tidyRule('documents that everyone reads stay short', {
  check: (files) =>
    files.flatMap(({ path, text }) => {
      const limit = sizes.find((each) => each.path === path)
      if (limit === undefined) return []
      const size = limit.unit === 'lines' ? text.trimEnd().split('\n').length : Buffer.byteLength(text)
      return size > limit.most ? [`${path} has ${size} ${limit.unit}, ${limit.most} at most`] : []
    }),
  on: everything.filter(({ path }) => sizes.some((each) => each.path === path)),
  atLeast: sizes.length,
  planted: [
    { path: 'README.md', text: 'x\n'.repeat(121), complaint: 'has 121 lines' },
    { path: 'ARCHITECTURE.md', text: 'x'.repeat(15_001), complaint: 'has 15001 bytes' },
  ],
  fine: [{ path: 'README.md', text: 'x\n'.repeat(120) }],
})
