import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { dirname, extname, join, posix } from 'node:path'
import { gzipSync } from 'node:zlib'

const root = join(import.meta.dirname, '../../../..')
const page = 'services/page'
/** The chart library has no dependency in this form. */
const library = { specifier: 'lightweight-charts', path: 'node_modules/lightweight-charts.mjs' }

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
}

/** A file as it is sent. */
export interface PageFile {
  readonly type: string
  readonly plain: Buffer
  readonly gzip: Buffer
}

interface PageFiles {
  /** By file name of the page: `index.html`. */
  readonly documents: ReadonlyMap<string, PageFile>
  /** By path below `/page/<digest>/`, which mirrors the folders of the repository. */
  readonly assets: ReadonlyMap<string, PageFile>
  /** The digest of all assets: a browser keeps them until one changes. */
  readonly digest: string
}

/** Everything that the page consists of, read and compressed once for the process. */
export const pageFiles = (): PageFiles => (prepared ??= prepare())
let prepared: PageFiles | undefined

function prepare(): PageFiles {
  const programs = { 'index.html': modules(`${page}/main.ts`), 'docs.html': modules(`${page}/docs.ts`) }
  const others = [`${page}/style.css`, `${page}/icon.svg`].map((path) => [path, read(path)] as const)
  const assets = new Map([...others, ...programs['index.html'], ...programs['docs.html']])
  const digest = hash('sha256', JSON.stringify([...assets])).slice(0, 16)

  const document = (name: keyof typeof programs): [string, PageFile] => {
    const base = `/page/${digest}`
    const preloads = [...programs[name].keys()]
      .map((path) => `<link rel="modulepreload" href="${base}/${path}">`)
      .join('\n')
    const text = read(`${page}/${name}`)
      .replaceAll('ASSETS', `${base}/${page}`)
      .replace('<!-- modules -->', preloads)
    return [name, packed(name, text)]
  }
  return {
    documents: new Map([document('index.html'), document('docs.html')]),
    assets: new Map([...assets].map(([path, text]) => [path, packed(path, text)])),
    digest,
  }
}

/** A module of the page and all that it imports, by path, as JavaScript. */
function modules(first: string): Map<string, string> {
  const found = new Map<string, string>()
  const add = (path: string): void => {
    if (found.has(path)) return
    const isLibrary = path === library.path
    const text = isLibrary ? readLibrary() : javascript(path)
    found.set(path, text)
    if (!isLibrary)
      for (const [, specifier = ''] of text.matchAll(/from '(\.[^']+)'/g))
        add(posix.join(dirname(path), specifier))
  }
  add(first)
  return found
}

/** Removes types as Node does when it runs a file, and descriptions, which are 8 kB of all. Lines keep their numbers. */
function javascript(path: string): string {
  const warn = process.emitWarning.bind(process)
  // Node says once that this function may change; a fixed version of Node runs it.
  process.emitWarning = () => undefined
  try {
    const text = stripTypeScriptTypes(read(path))
    const code = text.replace(/^ *\/\*\*[^]*?\*\/\n/gm, (words) => words.replace(/[^\n]+/g, ''))
    return code.replace(
      `from '${library.specifier}'`,
      `from '${posix.relative(dirname(path), library.path)}'`,
    )
  } finally {
    process.emitWarning = warn
  }
}

function readLibrary(): string {
  const manifest = createRequire(import.meta.url).resolve(`${library.specifier}/package.json`)
  return readFileSync(join(dirname(manifest), 'dist/lightweight-charts.standalone.production.mjs'), 'utf8')
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const packed = (name: string, text: string): PageFile => ({
  type: types[extname(name)] ?? 'text/plain',
  plain: Buffer.from(text),
  gzip: gzipSync(text, { level: 9 }),
})
