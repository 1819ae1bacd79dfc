/** One request as programs that a person can copy. The key is read from the environment. */
export interface Copies {
  readonly curl: string
  readonly TypeScript: string
  readonly Python: string
}

export interface Programs {
  /** Path and query: `/v1/status`. */
  readonly path: string
  /** Lines of a program that has a client `fxd`. */
  readonly typescript: string
  readonly python: string
}

export const copies = (origin: string, { path, typescript, python }: Programs): Copies => ({
  curl: `curl -H "X-API-Key: $FXD_API_KEY" '${origin}${path}'`,
  TypeScript: `import { Fxd } from '@fxd/client'

const fxd = new Fxd({ url: '${origin}' }) // the key is in FXD_API_KEY
${typescript}`,
  Python: `from fxd import Fxd

with Fxd("${origin}") as fxd:  # the key is in FXD_API_KEY
${python.replace(/^(?=.)/gm, '    ')}`,
})

const both = (path: string, call: string): Programs => ({
  path,
  typescript: `console.log(await fxd.${call})`,
  python: `print(fxd.${call})`,
})

export const statusPrograms = both('/v1/status', 'status()')
export const coveragePrograms = both('/v1/coverage', 'coverage()')
export const usagePrograms = (days: number): Programs => both(`/v1/usage?days=${days}`, `usage(${days})`)

/** The bars of a range. */
export function historyPrograms(symbol: string, resolution: string, from: number, to: number): Programs {
  const query = new URLSearchParams({ symbol, resolution, from: String(from), to: String(to) })
  // JSON text is a text of both languages.
  const [doubled, single] = [
    JSON.stringify(symbol),
    symbol.includes("'") ? JSON.stringify(symbol) : `'${symbol}'`,
  ]
  return {
    // Colons need no escape in a query, and a person reads them.
    path: `/v1/history?${String(query).replaceAll('%3A', ':')}`,
    typescript: `for await (const bar of fxd.history(${single}, { resolution: '${resolution}', from: ${from}, to: ${to} }))
  console.log(bar)`,
    python: `for bar in fxd.history(${doubled}, resolution="${resolution}", start=${from}, end=${to}):
    print(bar)`,
  }
}
