import type { Bar } from '../../../services/core/bars/bar.ts'
import { checkSequence } from '../../support/check-sequence.ts'
import type { Shown } from './check-history.ts'

/** A minute of the feed as its collector sent it; one follows the other. */
export interface Minute {
  readonly time: number
  /** When it was taken for the first time, on the monotonic clock of the test. */
  readonly begunMs: number
}

export type Seen =
  | { readonly type: 'bar'; readonly symbol: string; readonly bar: Bar }
  /** Bars after one time, until another, may be missing. */
  | { readonly type: 'gap'; readonly symbol: string; readonly after: number; readonly until: number }

/** One socket from its `subscribed` reply to its close. */
export interface Life {
  readonly id: string
  readonly symbols: readonly string[]
  /** When the reply came: what is sent later has to come. */
  readonly subscribedMs: number
  /** After which time bars of a symbol follow, as the reply said. */
  readonly since: ReadonlyMap<string, number>
  readonly seen: readonly Seen[]
  /** What history said after the reply, of what was missed while there was no socket: by symbol, bars after `after`. */
  readonly filled: ReadonlyMap<string, { readonly after: number; readonly times: ReadonlySet<number> }>
}

/** Bars that are named as missing. */
export const namedIn = (lives: readonly Life[]): number =>
  lives.reduce((sum, { seen }) => sum + seen.filter(({ type }) => type === 'gap').length, 0)

/**
 * What is wrong with what a socket was sent, a sentence each; none when every minute of a symbol came
 * once and in order, or was named in a GAP frame before the next that came.
 */
export function checkLife(life: Life, minutes: readonly Minute[]): string[] {
  return [...Map.groupBy(life.seen, (seen) => seen.symbol)].flatMap(([symbol, seen]) =>
    checkSymbol(`${life.id} ${symbol}`, symbol, seen, life, minutes),
  )
}

function checkSymbol(
  what: string,
  symbol: string,
  seen: readonly Seen[],
  life: Life,
  minutes: readonly Minute[],
): string[] {
  const since = life.since.get(symbol)
  const told = seen.map((each) => (each.type === 'gap' ? each : { type: each.type, time: each.bar.time }))
  const owed = (after: number | undefined, before: number): readonly number[] =>
    between(minutes, after, before)
      .filter(({ begunMs }) => after !== undefined || begunMs > life.subscribedMs)
      .map(({ time }) => time)
  const first = told.find((each) => each.type === 'bar')
  return [
    ...checkSequence(what, told, since, owed),
    ...(first && since === undefined
      ? checkFilled(what, life, symbol, between(minutes, undefined, first.time))
      : []),
  ]
}

/** Those that lie between two times, of minutes without a hole. */
function between(minutes: readonly Minute[], after: number | undefined, before: number): readonly Minute[] {
  const begin = minutes[0]?.time ?? 0
  const first = after === undefined ? 0 : Math.floor((after - begin) / 60) + 1
  return minutes.slice(Math.max(0, first), Math.max(0, Math.ceil((before - begin) / 60)))
}

/** Of what was sent before the reply a client that does not resume learns from history. */
function checkFilled(what: string, life: Life, symbol: string, before: readonly Minute[]): string[] {
  const filled = life.filled.get(symbol)
  if (filled === undefined) return []
  return before
    .filter(({ time, begunMs }) => time > filled.after && begunMs < life.subscribedMs)
    .filter(({ time }) => !filled.times.has(time))
    .map(({ time }) => `${what} at ${time} is neither pushed nor in history`)
}

/** Whether an open socket has the newest bar, or was told that it may miss it. */
export function isCaughtUp(life: Life, minutes: readonly Minute[]): boolean {
  const newest = minutes.at(-1)
  if (newest === undefined) return true
  return life.symbols.every((symbol) => {
    if (newest.begunMs <= life.subscribedMs && !life.since.has(symbol)) return true
    if ((life.since.get(symbol) ?? 0) >= newest.time) return true
    const last = life.seen.findLast((seen) => seen.symbol === symbol)
    return (
      last !== undefined && (last.type === 'gap' ? last.until >= newest.time : last.bar.time >= newest.time)
    )
  })
}

/**
 * Promise 2: what was pushed is what somebody sent, and history has it with the same numbers or those of
 * a later revision. `wasSent` is asked for each; of two readings the later has the greater volume.
 */
export function checkPushed(
  life: Life,
  shown: Shown,
  wasSent: (symbol: string, bar: Bar) => boolean,
): string[] {
  const byTime = new Map(
    [...shown].map(([symbol, bars]) => [symbol, new Map(bars.map((bar) => [bar.time, bar]))]),
  )
  return life.seen.flatMap((seen) => {
    if (seen.type === 'gap') return []
    const { symbol, bar } = seen
    const what = `${life.id} ${symbol} at ${bar.time}`
    const stored = byTime.get(symbol)?.get(bar.time)
    if (!wasSent(symbol, bar)) return [`${what}: pushed, and nobody sent ${JSON.stringify(bar)}`]
    if (stored === undefined) return [`${what}: pushed and not in history`]
    return stored.volume < bar.volume ? [`${what}: history is older than what was pushed`] : []
  })
}
