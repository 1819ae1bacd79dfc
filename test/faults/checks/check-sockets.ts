import type { Bar } from '../../../services/core/bars/bar.ts'
import { checkSequence } from '../../support/check-sequence.ts'
import type { Shown } from './check-history.ts'

/** A minute of the feed as its collector sent it; minutes have no gaps between them. */
export interface Minute {
  readonly time: number
  /** When the collector first read it, in ms on the monotonic clock of the test. */
  readonly begunMs: number
}

export type ReceivedFrame =
  | { readonly type: 'bar'; readonly symbol: string; readonly bar: Bar }
  /** A GAP frame: bars after `after`, up to `until`, may be missing. */
  | { readonly type: 'gap'; readonly symbol: string; readonly after: number; readonly until: number }

/** One socket from its `subscribed` reply to its close. */
export interface SocketRecord {
  readonly id: string
  readonly symbols: readonly string[]
  /** When the reply came; minutes sent later must be delivered. */
  readonly subscribedMs: number
  /** Time by symbol after which bars follow, from the reply. */
  readonly since: ReadonlyMap<string, number>
  readonly seen: readonly ReceivedFrame[]
  /** By symbol, the times of the bars after `after` that history returned after the reply. */
  readonly filled: ReadonlyMap<string, { readonly after: number; readonly times: ReadonlySet<number> }>
}

/** Number of gaps that GAP frames named. */
export const countGaps = (records: readonly SocketRecord[]): number =>
  records.reduce((sum, { seen }) => sum + seen.filter(({ type }) => type === 'gap').length, 0)

/**
 * Returns what is wrong with the frames of a socket, a sentence each. Each minute of a symbol must arrive once
 * and in order, or be named in an earlier GAP frame than the next bar.
 */
export function checkSocket(record: SocketRecord, minutes: readonly Minute[]): string[] {
  return [...Map.groupBy(record.seen, (seen) => seen.symbol)].flatMap(([symbol, seen]) =>
    checkSymbol(`${record.id} ${symbol}`, symbol, seen, record, minutes),
  )
}

function checkSymbol(
  what: string,
  symbol: string,
  seen: readonly ReceivedFrame[],
  record: SocketRecord,
  minutes: readonly Minute[],
): string[] {
  const since = record.since.get(symbol)
  const frames = seen.map((each) => (each.type === 'gap' ? each : { type: each.type, time: each.bar.time }))
  const expected = (after: number | undefined, before: number): readonly number[] =>
    between(minutes, after, before)
      .filter(({ begunMs }) => after !== undefined || begunMs > record.subscribedMs)
      .map(({ time }) => time)
  const first = frames.find((each) => each.type === 'bar')
  return [
    ...checkSequence(what, frames, since, expected),
    ...(first && since === undefined
      ? checkFilled(what, record, symbol, between(minutes, undefined, first.time))
      : []),
  ]
}

/** The minutes between two times, both exclusive. */
function between(minutes: readonly Minute[], after: number | undefined, before: number): readonly Minute[] {
  const begin = minutes[0]?.time ?? 0
  const first = after === undefined ? 0 : Math.floor((after - begin) / 60) + 1
  return minutes.slice(Math.max(0, first), Math.max(0, Math.ceil((before - begin) / 60)))
}

/** Checks what a client without `since` missed before the reply: it must find it in history. */
function checkFilled(
  what: string,
  record: SocketRecord,
  symbol: string,
  before: readonly Minute[],
): string[] {
  const filled = record.filled.get(symbol)
  if (filled === undefined) return []
  return before
    .filter(({ time, begunMs }) => time > filled.after && begunMs < record.subscribedMs)
    .filter(({ time }) => !filled.times.has(time))
    .map(({ time }) => `${what} at ${time} is neither pushed nor in history`)
}

/** Whether an open socket has received the newest bar of each symbol, or a GAP frame that names it. */
export function isCaughtUp(record: SocketRecord, minutes: readonly Minute[]): boolean {
  const newest = minutes.at(-1)
  if (newest === undefined) return true
  return record.symbols.every((symbol) => {
    if (newest.begunMs <= record.subscribedMs && !record.since.has(symbol)) return true
    if ((record.since.get(symbol) ?? 0) >= newest.time) return true
    const last = record.seen.findLast((seen) => seen.symbol === symbol)
    return (
      last !== undefined && (last.type === 'gap' ? last.until >= newest.time : last.bar.time >= newest.time)
    )
  })
}

/**
 * Checks promise 2: each pushed bar was sent (`wasSent`), and history has it with the same values or those of
 * a later revision. Of two readings the later one has the greater volume.
 */
export function checkPushed(
  record: SocketRecord,
  shown: Shown,
  wasSent: (symbol: string, bar: Bar) => boolean,
): string[] {
  const byTime = new Map(
    [...shown].map(([symbol, bars]) => [symbol, new Map(bars.map((bar) => [bar.time, bar]))]),
  )
  return record.seen.flatMap((seen) => {
    if (seen.type === 'gap') return []
    const { symbol, bar } = seen
    const what = `${record.id} ${symbol} at ${bar.time}`
    const stored = byTime.get(symbol)?.get(bar.time)
    if (!wasSent(symbol, bar)) return [`${what}: pushed and never sent: ${JSON.stringify(bar)}`]
    if (stored === undefined) return [`${what}: pushed and not in history`]
    return stored.volume < bar.volume ? [`${what}: history is older than what was pushed`] : []
  })
}
