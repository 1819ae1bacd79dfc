import { type Bar, toList } from '../../services/core/bar.ts'
import type { CompoundKey } from '../../services/core/compound-key.ts'
import type { Record, Seen, SocketRecord } from './record.ts'

/** Bars of one symbol as something shows them in the end. */
export type Shown = (symbol: CompoundKey) => readonly Bar[]

/** Promise 1 and 2: what was acknowledged or pushed is in the history, and history is what the broker says. */
export function checkHistory(
  record: Record,
  symbols: readonly CompoundKey[],
  stored: (symbol: CompoundKey) => ReturnType<typeof toList>,
  broker: Shown,
  closes: (symbol: CompoundKey, time: number) => ReadonlySet<number>,
  settledUntil: number,
): string[] {
  const found: string[] = []
  for (const symbol of symbols) {
    const bars = stored(symbol)
    const byTime = new Map(bars.map((bar) => [bar.time as number, bar]))
    if (byTime.size !== bars.length) found.push(`${symbol}: a time is stored twice`)
    for (const [time, acked] of record.acked.get(symbol) ?? []) {
      const bar = byTime.get(time)
      if (!bar) found.push(`${symbol} ${time}: acknowledged and not stored`)
      // An equal reading changes nothing, whatever its revision.
      else if (bar.revision < acked.revision && bar.close !== acked.close)
        found.push(
          `${symbol} ${time}: revision ${acked.revision} was acknowledged, ${bar.revision} is stored`,
        )
    }
    for (const time of record.published.get(symbol)?.keys() ?? [])
      if (!byTime.has(time)) found.push(`${symbol} ${time}: pushed and not stored`)
    for (const truth of broker(symbol)) {
      if (truth.time > settledUntil) continue
      const bar = byTime.get(truth.time)
      if (!bar) found.push(`${symbol} ${truth.time}: the broker has it, history does not`)
      // What the broker corrects while no collector listens is not read again.
      else if (!closes(symbol, truth.time).has(bar.close))
        found.push(
          `${symbol} ${truth.time}: closes at ${truth.close} at the broker, at ${bar.close} in history`,
        )
    }
  }
  return found
}

/** Promise 3: once, in order, and whatever is missing is named. */
export function checkSocket(record: Record, socket: SocketRecord): string[] {
  const found: string[] = []
  const symbols = new Set(socket.seen.flatMap((seen) => (seen.type === 'bar' ? [seen.symbol] : [])))
  for (const symbol of symbols) {
    const published = record.published.get(symbol) ?? new Map<number, Bar>()
    const mine = socket.seen.filter((seen) => seen.type !== 'subscribed' && seen.symbol === symbol)
    const since = socket.since.get(symbol)
    let last = since
    const gaps: { after: number; until: number }[] = []
    for (const seen of mine) {
      if (seen.type === 'gap') {
        gaps.push(seen)
        continue
      }
      if (seen.type !== 'bar') continue
      const { time } = seen.bar
      found.push(...checkFrame(seen, published.get(time), socket, last))
      if (last !== undefined)
        for (const missed of published.keys())
          if (
            missed > last &&
            missed < time &&
            !gaps.some(({ after, until }) => missed > after && missed <= until)
          )
            found.push(`${socket.id} ${symbol} ${missed}: neither delivered nor named`)
      last = time
      gaps.length = 0
    }
  }
  return found
}

function checkFrame(
  { symbol, bar }: Extract<Seen, { type: 'bar' }>,
  published: Bar | undefined,
  socket: SocketRecord,
  last: number | undefined,
): string[] {
  const found: string[] = []
  if (last !== undefined && bar.time <= last)
    found.push(`${socket.id} ${symbol} ${bar.time}: came after ${last}`)
  // A replay brings what history says, which the broker may have corrected since.
  if (
    published &&
    !socket.since.has(symbol) &&
    published.close !== bar.close &&
    socket.id.startsWith('plain')
  )
    found.push(`${socket.id} ${symbol} ${bar.time}: pushed with other numbers than published`)
  return found
}

/** When all is well again an open socket has the newest bar, or was told that it does not. */
export function checkCaughtUp(socket: SocketRecord, symbol: string, newest: number): string[] {
  const subscribed = socket.seen.find((seen) => seen.type === 'subscribed' && seen.symbols.includes(symbol))
  if (socket.closed || subscribed?.type !== 'subscribed' || newest < subscribed.at) return []
  const mine = socket.seen.filter((seen) => seen.type !== 'subscribed' && seen.symbol === symbol)
  const last = mine.at(-1)
  if (last?.type === 'bar' && last.bar.time >= newest) return []
  return [`${socket.id} ${symbol}: open and without ${newest}, the newest bar`]
}
