import { type Bar, barAt, barCount, columns, type RevisedBar } from '../core/bars/bar.ts'
import type { ReceivedBars, ReceivedSeries } from '../wire/decode-bars.ts'

/** A bar that was sent and got no Ack. The collector must send it again. */
interface OwedBar {
  readonly bar: RevisedBar
  readonly lane: ReceivedBars['lane']
  /** Counts the messages of all sessions. */
  readonly message: number
  /** True if the bar was refused for its revision: it comes again with another one. */
  readonly wasRefused: boolean
}

interface Sent {
  readonly bars: ReceivedBars
  readonly message: number
}

interface Range {
  /** Empty: every symbol. */
  readonly symbol: string
  readonly resolution: string
  readonly from: number
  readonly to: number
}

/** Ingest counts a batch as at least this many bars. */
const barsPerBatchMin = 10

export const countOf = ({ series }: ReceivedBars): number => series.reduce((sum, { count }) => sum + count, 0)

/** Name of a series in sentences, and key of a map. */
export const nameOf = ({ symbol, resolution }: Pick<ReceivedSeries, 'symbol' | 'resolution'>): string =>
  `${symbol} ${resolution}`

export const isEqualBar = (a: Bar, b: Bar): boolean =>
  columns.every((column) => column === 'revision' || a[column] === b[column])

/** The bars that a collector sent, until their Ack, over all its sessions. */
export class UnackedBars {
  readonly #sent = new Map<number, Sent>()
  /** Bars without an Ack from earlier sessions, by series and time. */
  readonly #owed = new Map<string, Map<number, OwedBar>>()
  #messages = 0
  /** The newest message from which a live bar came again, by resolution. */
  readonly #returned = new Map<string, number>()

  get live(): number {
    let sum = 0
    for (const { bars } of this.#sent.values())
      if (bars.lane === 'live') sum += Math.max(barsPerBatchMin, countOf(bars))
    return sum
  }

  get backfillBatches(): number {
    return [...this.#sent.values()].filter(({ bars }) => bars.lane !== 'live').length
  }

  /** Bars of the live lane that an earlier session sent and that did not come again. */
  get owedLive(): number {
    let count = 0
    for (const bars of this.#owed.values())
      for (const { lane } of bars.values()) if (lane === 'live') count += 1
    return count
  }

  /** Takes a message of the present session; `fault` is called for each bar that comes again in a wrong way. */
  take(
    message: ReceivedBars,
    welcomeMs: number,
    fault: (what: string) => void,
  ): { readonly isNew: boolean; readonly wasRefused: boolean } {
    this.#messages += 1
    this.#sent.set(message.sequence, { bars: message, message: this.#messages })
    let [isNew, wasRefused] = [true, false]
    for (const series of message.series) {
      const { bars } = series
      const owed = this.#owed.get(nameOf(series))
      if (owed === undefined || typeof bars === 'string') continue
      for (let i = 0; i < barCount(bars); i++) {
        const bar = barAt(bars, i)
        const before = owed.get(bar.time)
        if (before === undefined) {
          if (message.lane === 'live') this.#skipped(series, owed, bar.time, fault)
          continue
        }
        owed.delete(bar.time)
        isNew = false
        wasRefused ||= before.wasRefused
        this.#compare(series, bar, before, welcomeMs, fault)
      }
    }
    return { isNew, wasRefused }
  }

  acked(sequence: number): void {
    this.#sent.delete(sequence)
  }

  /** Bars that were refused for their revision are owed, although their message gets an Ack. */
  refusedRevision(sequence: number, at: { series: number; index: number; count: number }): void {
    const sent = this.#sent.get(sequence)
    const series = sent?.bars.series[at.series]
    if (sent === undefined || series === undefined || typeof series.bars === 'string') return
    for (let i = at.index; i < Math.min(at.index + at.count, series.count); i++)
      this.#owe(series, barAt(series.bars, i), sent, true)
  }

  /** The session ended: what has no Ack is owed. */
  ended(): void {
    for (const sent of this.#sent.values())
      for (const series of sent.bars.series) {
        if (typeof series.bars === 'string') continue
        for (let i = 0; i < series.count; i++) this.#owe(series, barAt(series.bars, i), sent, false)
      }
    this.#sent.clear()
    this.#returned.clear()
  }

  /** The first bar without an Ack in the range, as part of a sentence. */
  inside({ symbol, resolution, from, to }: Range): string | undefined {
    const covers = (of: Pick<ReceivedSeries, 'symbol' | 'resolution'>): boolean =>
      of.resolution === resolution && (symbol === '' || of.symbol === symbol)
    for (const [sequence, { bars }] of this.#sent)
      for (const series of bars.series) {
        if (!covers(series) || typeof series.bars === 'string') continue
        const time = series.bars.time.find((each) => each >= from && each < to)
        if (time !== undefined)
          return `the bar ${time} of ${nameOf(series)}, sequence ${sequence} of this session`
      }
    for (const [name, owed] of this.#owed) {
      const [of, r] = splitName(name)
      if (!covers({ symbol: of, resolution: r })) continue
      for (const time of owed.keys())
        if (time >= from && time < to)
          return `the bar ${time} of ${name}, which was sent before and did not come again`
    }
    return undefined
  }

  /** Forgets the live bars that are owed; returns their series with the count of bars. */
  giveUpLive(): readonly string[] {
    return [...this.#owed].flatMap(([name, owed]) => {
      const times = [...owed].filter(([, { lane }]) => lane === 'live').map(([time]) => time)
      for (const time of times) owed.delete(time)
      return times.length === 0 ? [] : [`${times.length} of ${name} from ${Math.min(...times)} on`]
    })
  }

  #owe(series: ReceivedSeries, bar: RevisedBar, { bars, message }: Sent, wasRefused: boolean): void {
    const name = nameOf(series)
    const owed = this.#owed.get(name) ?? new Map<number, OwedBar>()
    this.#owed.set(name, owed)
    const isRefused = wasRefused || (owed.get(bar.time)?.wasRefused ?? false)
    owed.set(bar.time, { bar, lane: bars.lane, message, wasRefused: isRefused })
  }

  /** A newer bar came on the live lane before bars without an Ack. */
  #skipped(
    series: ReceivedSeries,
    owed: Map<number, OwedBar>,
    time: number,
    fault: (what: string) => void,
  ): void {
    const late = [...owed.values()].filter(
      ({ lane, bar, wasRefused }) => lane === 'live' && bar.time < time && !wasRefused,
    )
    if (late.length === 0) return
    for (const { bar } of late) owed.delete(bar.time)
    const first = late[0]?.bar.time
    fault(
      `${nameOf(series)}: the bar ${time} came before ${late.length} bars without an Ack, the first of ${first}`,
    )
  }

  #compare(
    series: ReceivedSeries,
    bar: RevisedBar,
    before: OwedBar,
    welcomeMs: number,
    fault: (what: string) => void,
  ): void {
    // History may be read again, which makes new revisions.
    if (before.lane !== 'live') return
    // A revision ahead of the clock of ingest must change: it would be refused.
    const mayChange = before.wasRefused || before.bar.revision > welcomeMs
    if (!mayChange && bar.revision !== before.bar.revision && isEqualBar(bar, before.bar))
      fault(
        `${nameOf(series)}: the bar ${bar.time} came again with revision ${bar.revision}, at first ${before.bar.revision}`,
      )
    const newest = this.#returned.get(series.resolution) ?? 0
    if (before.message < newest)
      fault(
        `${nameOf(series)}: the bar ${bar.time} came again after bars that were sent later than it at first`,
      )
    this.#returned.set(series.resolution, Math.max(newest, before.message))
  }
}

/** The symbol and the resolution of a name; a symbol may contain spaces. */
function splitName(name: string): [symbol: string, resolution: string] {
  const at = name.lastIndexOf(' ')
  return [name.slice(0, at), name.slice(at + 1)]
}
