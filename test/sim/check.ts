import type { Bar, RevisedBar } from '../../services/core/bars/bar.ts'
import type { CompoundKey } from '../../services/core/feeds/compound-key.ts'
import { checkSequence } from '../support/check-sequence.ts'
import type { Record, Seen, SocketRecord } from './record.ts'

/** What is known of one symbol when all is over. */
export interface Known {
  readonly symbol: CompoundKey
  readonly stored: readonly RevisedBar[]
  readonly broker: readonly Bar[]
  /** Every close that the broker ever told of the bar of this time. */
  readonly closes: (time: number) => ReadonlySet<number>
}

/** Promise 1 and 2: what was acknowledged or pushed is in the history, and history is what the broker says. */
export function checkHistory(record: Record, known: Known, settledUntil: number): string[] {
  const { symbol, stored, broker, closes } = known
  const found: string[] = []
  const byTime = new Map(stored.map((bar) => [bar.time as number, bar]))
  if (byTime.size !== stored.length) found.push('a time is stored twice')
  for (const [time, acked] of record.acked.get(symbol) ?? []) {
    const bar = byTime.get(time)
    if (!bar) found.push(`${time}: acknowledged and not stored`)
    // An equal reading changes nothing, whatever its revision.
    else if (bar.revision < acked.revision && bar.close !== acked.close)
      found.push(`${time}: revision ${acked.revision} was acknowledged, ${bar.revision} is stored`)
  }
  for (const time of record.published.get(symbol)?.keys() ?? [])
    if (!byTime.has(time)) found.push(`${time}: pushed and not stored`)
  for (const { time, close } of broker) {
    if (time > settledUntil) continue
    const bar = byTime.get(time)
    if (!bar) found.push(`${time}: the broker has it, history does not`)
    // What the broker corrects while no collector listens is not read again.
    else if (!closes(time).has(bar.close))
      found.push(`${time}: closes at ${close} at the broker, at ${bar.close} in history`)
  }
  return found.map((what) => `${symbol} ${what}`)
}

/** Promise 3: once, in order, and whatever is missing is named. */
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
    const told = mine.map((seen) => (seen.type === 'gap' ? seen : { type: seen.type, time: seen.bar.time }))
    const owed = (after: number | undefined, before: number): readonly number[] =>
      after === undefined ? [] : [...published.keys()].filter((time) => time > after && time < before)
    found.push(...checkSequence(`${socket.id} ${symbol}`, told, socket.since.get(symbol), owed))
    for (const seen of mine)
      if (seen.type === 'bar')
        found.push(...checkFrame(seen, published.get(seen.bar.time), closes.get(seen.symbol), socket.id))
  }
  return found
}

/** A minute frame comes after all bars of that minute that the socket is owed, or after they were named. */
export function checkMinutes(record: Record, { id, since, seen }: SocketRecord): string[] {
  const found: string[] = []
  seen.forEach((frame, i) => {
    if (frame.type !== 'minute') return
    const { time } = frame
    const before = seen.slice(0, i)
    const owed = before.flatMap((each) =>
      each.type === 'subscribed' ? each.symbols.filter((symbol) => isOwed(symbol, each.at)) : [],
    )
    function isOwed(symbol: string, at: number): boolean {
      return record.published.get(symbol)?.has(time) === true && (since.get(symbol) ?? at - 60) < time
    }
    for (const symbol of new Set(owed)) {
      const isTold = before.some(
        (each) =>
          'symbol' in each &&
          each.symbol === symbol &&
          (each.type === 'bar' ? each.bar.time === time : each.after < time && time <= each.until),
      )
      if (!isTold) found.push(`${id} ${symbol} ${time}: its minute was complete before it came`)
    }
  })
  return found
}

/** As published, or, out of a replay or a refill, what history says: the broker may have corrected it since. */
function checkFrame(
  { symbol, bar }: Extract<Seen, { type: 'bar' }>,
  published: Bar | undefined,
  told: Known['closes'] | undefined,
  id: string,
): string[] {
  return published?.close !== bar.close && !told?.(bar.time).has(bar.close)
    ? [`${id} ${symbol} ${bar.time}: pushed with numbers that the broker never told`]
    : []
}

/** When all is well again an open socket has the newest bar, or was told that it does not. */
export function checkCaughtUp(socket: SocketRecord, symbol: string, newest: number): string[] {
  const subscribed = socket.seen.find((seen) => seen.type === 'subscribed' && seen.symbols.includes(symbol))
  if (socket.closed || subscribed?.type !== 'subscribed' || newest < subscribed.at) return []
  const mine = socket.seen.filter((seen) => 'symbol' in seen && seen.symbol === symbol)
  const isTold = mine.some((seen) =>
    seen.type === 'bar' ? seen.bar.time >= newest : seen.type === 'gap' && seen.after < newest,
  )
  if (isTold) return []
  return [`${socket.id} ${symbol}: open and without ${newest}, the newest bar`]
}
