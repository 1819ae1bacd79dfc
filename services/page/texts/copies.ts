import { timeText } from './words.ts'

export interface Programs {
  /** Path and query: `/v1/status`. */
  readonly path: string
  /** What the numbers of the request mean. */
  readonly note?: string
  /** Lines of a program that has a client `fxd`. */
  readonly typescript: string
  readonly python: string
}

/** One request as programs that a person can paste. The key is read from the environment. */
export function copies(origin: string, { path, note, typescript, python }: Programs) {
  const hashes = note === undefined ? '' : `# ${note}\n`
  const slashes = note === undefined ? '' : `// ${note}\n`
  return {
    curl: `# First: export FXD_API_KEY=fxd_…
${hashes}curl -H "X-API-Key: $FXD_API_KEY" '${origin}${path}'`,
    TypeScript: `// In a checkout of fxd: npm ci && npm run client
// In your project: npm install CHECKOUT/clients/typescript
// Save this as program.mjs, then: export FXD_API_KEY=fxd_… and node program.mjs
import { Fxd } from '@fxd/client'

${slashes}const fxd = new Fxd({ url: '${origin}' })
${typescript}`,
    Python: `# In a checkout of fxd: pip install ./clients/python
# First: export FXD_API_KEY=fxd_…
from fxd import Fxd

${hashes}with Fxd("${origin}") as fxd:
${python.replace(/^(?=.)/gm, '    ')}`,
    'Python without a package': `# First: export FXD_API_KEY=fxd_…
import json
import os
from urllib.request import Request, urlopen

${hashes}url = "${origin}${path}"
with urlopen(Request(url, headers={"X-API-Key": os.environ["FXD_API_KEY"]})) as answer:
    print(json.load(answer))`,
  }
}

export type ProgramName = keyof ReturnType<typeof copies>

const both = (path: string, call: string): Programs => ({
  path,
  typescript: `console.log(await fxd.${call})`,
  python: `print(fxd.${call})`,
})

export const statusPrograms = both('/v1/status', 'status()')
export const usagePrograms = (days: number): Programs => both(`/v1/usage?days=${days}`, `usage(${days})`)

// JSON text is a text of both languages.
const doubled = (text: string): string => JSON.stringify(text)
const single = (text: string): string => (text.includes("'") ? doubled(text) : `'${text}'`)

const clockNote = (from: number, to: number): string =>
  `${timeText(from)} to ${timeText(to)} on the clock of the feed`

/** The bars of a range. */
export function historyPrograms(symbol: string, resolution: string, from: number, to: number): Programs {
  const query = new URLSearchParams({ symbol, resolution, from: String(from), to: String(to) })
  return {
    // Colons need no escape in a query, and a person reads them.
    path: `/v1/history?${String(query).replaceAll('%3A', ':')}`,
    note: clockNote(from, to),
    typescript: `for await (const bar of fxd.history(${single(symbol)}, { resolution: '${resolution}', from: ${from}, to: ${to} }))
  console.log(bar)`,
    python: `for bar in fxd.history(${doubled(symbol)}, resolution="${resolution}", start=${from}, end=${to}):
    print(bar)`,
  }
}

interface Days {
  readonly rows: readonly { readonly symbol: string }[]
  readonly firstDay: number
  readonly days: number
}

/** The ranges of a wall: of its symbol, or of all that a feed has, in its days. */
export function wallPrograms(feed: string, resolution: string, { rows, firstDay, days }: Days): Programs {
  const end = firstDay + days * 86_400
  const [first, second] = rows
  const one = second ? undefined : first?.symbol
  const query = new URLSearchParams({ ...(one !== undefined && { symbol: one }), resolution })
  const name = one ?? `${feed}:`
  const note = clockNote(firstDay, end - 60)
  return {
    path: `/v1/coverage?${String(query).replaceAll('%3A', ':')}`,
    typescript: `// ${note}
const coverage = await fxd.coverage(undefined, { resolution: '${resolution}' })
for (const [symbol, ranges] of Object.entries(coverage))
  if (symbol.startsWith(${single(name)}))
    console.log(symbol, ranges.filter(({ from, to }) => to >= ${firstDay} && from < ${end}))`,
    python: `# ${note}
for symbol, ranges in fxd.coverage(resolution="${resolution}")["coverage"].items():
    if symbol.startswith(${doubled(name)}):
        print(symbol, [each for each in ranges if each["to"] >= ${firstDay} and each["from"] < ${end}])`,
  }
}
