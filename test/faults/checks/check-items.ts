/** What a client of the service gave to its program. */
export type GivenItem =
  | { readonly type: 'bar'; readonly symbol: string; readonly time: number }
  /** Bars that open from `from` to `to`, both included, are not given. */
  | {
      readonly type: 'gap'
      readonly symbol: string
      readonly from: number
      readonly to: number
      readonly reason: string
    }

export const findingKinds = ['missed', 'twice', 'out of order', 'gap', 'unknown'] as const

export interface Finding {
  readonly kind: (typeof findingKinds)[number]
  /** Index of the item that showed it; for a bar that never came the number of items. */
  readonly at: number
  readonly text: string
}

/**
 * Compares what a client gave since a time with history, which by now has every bar. Each bar must be given once, and
 * those of a symbol in order. A gap may only name minutes that history lacks, unless the clock of the feed fell back.
 */
export function checkItems(
  items: readonly GivenItem[],
  history: ReadonlyMap<string, readonly number[]>,
  since: number,
): Finding[] {
  const bySymbol = Map.groupBy(items.entries(), ([, { symbol }]) => symbol)
  return [...new Set([...history.keys(), ...bySymbol.keys()])].flatMap((symbol) => {
    const times = (history.get(symbol) ?? []).filter((time) => time >= since)
    return checkSymbol(symbol, bySymbol.get(symbol) ?? [], times, items.length)
  })
}

function checkSymbol(
  symbol: string,
  given: readonly (readonly [number, GivenItem])[],
  times: readonly number[],
  end: number,
): Finding[] {
  const findings: Finding[] = []
  const find = (kind: Finding['kind'], at: number, text: string): void =>
    void findings.push({ kind, at, text: `${symbol} ${text}` })
  const known = new Set(times)
  const seen = new Set<number>()
  /** History up to this index was given, missed or named in a gap. */
  let next = 0
  let last = Number.NEGATIVE_INFINITY
  const missed = (before: number, at: number): void => {
    for (let time = times[next]; time !== undefined && time < before; time = times[++next])
      find('missed', at, `at ${time} was not given`)
  }
  for (const [at, item] of given) {
    if (item.type === 'gap') {
      const { from, to, reason } = item
      const named = times.filter((time) => time >= from && time <= to)
      if (named.length > 0 || reason !== 'unfilled')
        find('gap', at, `${reason} from ${from} to ${to}; history has ${named.length} of these bars`)
      missed(from, at)
      while ((times[next] ?? Number.POSITIVE_INFINITY) <= to) next += 1
      continue
    }
    const { time } = item
    if (seen.has(time)) find('twice', at, `at ${time} was given before`)
    else if (time < last) find('out of order', at, `at ${time} was given after ${last}`)
    if (!known.has(time)) find('unknown', at, `at ${time} is not in history`)
    seen.add(time)
    missed(time, at)
    if (times[next] === time) next += 1
    last = Math.max(last, time)
  }
  missed(Number.POSITIVE_INFINITY, end)
  return findings
}
