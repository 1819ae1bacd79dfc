import type { Bar, RevisedBar } from '../../../services/core/bars/bar.ts'
import type { CompoundKey } from '../../../services/core/feeds/compound-key.ts'
import { checkSequence } from '../../support/check-sequence.ts'
import type { Record, Seen, SocketRecord } from './record.ts'

/** What the store and the broker have of one symbol at the end of a run. */
export interface Known {
  readonly symbol: CompoundKey
  readonly stored: readonly RevisedBar[]
  readonly broker: readonly Bar[]
  /** Every close price that the broker ever sent for the bar of this time. */
  readonly closes: (time: number) => ReadonlySet<number>
}

/** Checks promises 1 and 2: acknowledged and pushed bars are in the history, and history equals the broker's bars. */
export function checkHistory(record: Record, known: Known, settledUntil: number): string[] {
  const { symbol, stored, broker, closes } = known
  const found: string[] = []
  const byTime = new Map(stored.map((bar) => [bar.time as number, bar]))
  if (byTime.size !== stored.length) found.push('a time is stored twice')
  for (const [time, acked] of record.acked.get(symbol) ?? []) {
    const bar = byTime.get(time)
    if (!bar) found.push(`${time}: acknowledged but not stored`)
    // A repeated bar with equal numbers changes nothing, whatever its revision.
    else if (bar.revision < acked.revision && bar.close !== acked.close)
      found.push(`${time}: revision ${acked.revision} was acknowledged, but ${bar.revision} is stored`)
  }
  for (const time of record.published.get(symbol)?.keys() ?? [])
    if (!byTime.has(time)) found.push(`${time}: pushed but not stored`)
  for (const { time, close } of broker) {
    if (time > settledUntil) continue
    const bar = byTime.get(time)
    if (!bar) found.push(`${time}: the broker has this bar, history does not`)
    // A correction that the broker makes while no collector is connected is never read.
    else if (!closes(time).has(bar.close))
      found.push(`${time}: close is ${close} at the broker, ${bar.close} in history`)
  }
  return found.map((what) => `${symbol} ${what}`)
}

/** Checks promise 3: bars come once and in order, and every missing bar is named in a GAP. */
export function checkSocket(
  record: Record,
  socket: SocketRecord,
  closes: ReadonlyMap<string, Known['closes']>,
): string[] {
  const found: string[] = []
  const symbols = new Set(socket.seen.flatMap((seen) => (seen.type === 'bar' ? [seen.symbol] : [])))
  for (const symbol of symbols) {
    const published = record.published.get(symbol) ?? new Map<number, Bar>()
    const mine = socket.seen.flatMap((seen) => ('symbol' in seen && seen.symbol === symbol ? [seen] : []))
    const received = mine.map((seen) =>
      seen.type === 'gap' ? seen : { type: seen.type, time: seen.bar.time },
    )
    const expected = (after: number | undefined, before: number): readonly number[] =>
      after === undefined ? [] : [...published.keys()].filter((time) => time > after && time < before)
    found.push(...checkSequence(`${socket.id} ${symbol}`, received, socket.since.get(symbol), expected))
    for (const seen of mine)
      if (seen.type === 'bar')
        found.push(...checkFrame(seen, published.get(seen.bar.time), closes.get(seen.symbol), socket.id))
  }
  return found
}

/** Checks that a minute frame comes after all expected bars of that minute, or after a GAP that names them. */
export function checkMinutes(record: Record, { id, since, seen }: SocketRecord): string[] {
  const found: string[] = []
  seen.forEach((frame, i) => {
    if (frame.type !== 'minute') return
    const { time } = frame
    const before = seen.slice(0, i)
    const expected = before.flatMap((each) =>
      each.type === 'subscribed' ? each.symbols.filter((symbol) => isOwed(symbol, each.at)) : [],
    )
    function isOwed(symbol: string, at: number): boolean {
      return record.published.get(symbol)?.has(time) === true && (since.get(symbol) ?? at - 60) < time
    }
    for (const symbol of new Set(expected)) {
      const isReceived = before.some(
        (each) =>
          'symbol' in each &&
          each.symbol === symbol &&
          (each.type === 'bar' ? each.bar.time === time : each.after < time && time <= each.until),
      )
      if (!isReceived) found.push(`${id} ${symbol} ${time}: the minute frame came before this bar`)
    }
  })
  return found
}

/** A bar has the numbers that were published, or, from a replay or a refill, those of a later correction. */
function checkFrame(
  { symbol, bar }: Extract<Seen, { type: 'bar' }>,
  published: Bar | undefined,
  closes: Known['closes'] | undefined,
  id: string,
): string[] {
  return published?.close !== bar.close && !closes?.(bar.time).has(bar.close)
    ? [`${id} ${symbol} ${bar.time}: pushed with numbers that the broker never sent`]
    : []
}

/** Checks at the end of a run that an open socket has the newest bar, or a GAP for it. */
export function checkCaughtUp(socket: SocketRecord, symbol: string, newest: number): string[] {
  const subscribed = socket.seen.find((seen) => seen.type === 'subscribed' && seen.symbols.includes(symbol))
  if (socket.closed || subscribed?.type !== 'subscribed' || newest < subscribed.at) return []
  const mine = socket.seen.filter((seen) => 'symbol' in seen && seen.symbol === symbol)
  const isReceived = mine.some((seen) =>
    seen.type === 'bar' ? seen.bar.time >= newest : seen.type === 'gap' && seen.after < newest,
  )
  if (isReceived) return []
  return [`${socket.id} ${symbol}: open, but without ${newest}, the newest bar`]
}
