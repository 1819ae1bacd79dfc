import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { tidyRule } from './rule.ts'
import { forbid } from './rules/phrases.ts'
import { everything, root } from './tree.ts'

const escaped = (path: string): RegExp => new RegExp(`(?<![\\w.])${RegExp.escape(path)}(?=[/\\s'"\`]|$)`)

/** The parent folder of this checkout and the home folder. Short ones (`/`, `/tmp`) exist on every machine. */
const placesHere = [dirname(root), homedir()].filter((path) => path.length > 4)

tidyRule('no file has a path of one machine or a registry address', {
  check: forbid(
    ...placesHere.map((path) => ({ found: escaped(path), cure: 'use a relative path' })),
    { found: /(?<![\w.])\/(home|Users)\/\w+/, cure: 'use a relative path' },
    {
      found: /\b(index-url|--registry)\b|https?:\/\/[\w.-]*registry\./,
      cure: 'leave registries to the machine',
    },
  ),
  on: everything.filter((file) => !file.path.startsWith('test/tidy/')),
  atLeast: 100,
  planted: [
    ...placesHere.map((path) => ({
      path: 'README.md',
      text: `cd ${path}/checkout`,
      complaint: 'use a relative path',
    })),
    { path: 'Makefile', text: 'cd /home/somebody/fxd', complaint: 'use a relative path' },
    {
      path: 'package-lock.json',
      text: '"resolved": "https://registry.example.org/ws.tgz"',
      complaint: 'leave registries to the machine',
    },
  ],
  fine: [
    { path: 'services/rest/routes/usage.ts', text: "'/v1/usage'; registry.feeds.get(key); src/home/page" },
  ],
})
