import { type Bars, barCount, loadBar, pickBars } from '../../core/bars/bar.ts'
import { type BarFault, barFault, fault, type RefusalReason } from '../../core/bars/bar-rules.ts'
import { isClosed } from '../../core/bars/closed.ts'
import { messagePartitionsMax, partitionsOf } from '../../core/bars/partitions.ts'
import { type Series, seriesId } from '../../core/bars/series.ts'
import { type FeedSeconds, feedSeconds, type UtcMs } from '../../core/clocks/feed-clock.ts'
import { compoundKey, parseCompoundKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import { isResolution, type Resolution } from '../../core/feeds/resolution.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import type { ReceivedSeries } from '../../wire/decode-bars.ts'
import { batchBarsMax, revisionAheadMs } from '../../wire/limits.ts'

export type SymbolLookup = Pick<RegistryView, 'symbol' | 'feed'>

export interface CheckContext {
  readonly view: SymbolLookup
  readonly definition: FeedDefinition
  readonly utcNow: UtcMs
  /** "Now" on the feed's clock; `undefined` while that is unknown. */
  readonly feedNow: FeedSeconds | undefined
  /** The same; `undefined` also while only ticks show the time: then a bar may be later. */
  readonly latest: FeedSeconds | undefined
  /** The newest known time of a series, by `seriesId`. */
  readonly newestOf: (id: string) => FeedSeconds | undefined
}

export interface Refusal {
  /** Index of the series in the message; `index` is that of the first bar in the series. */
  readonly series: number
  readonly index: number
  readonly count: number
  readonly reason: RefusalReason
  readonly message: string
}

export interface GoodSeries {
  readonly id: string
  readonly series: Series
  readonly scale: number
  /** At least one bar, strictly ascending in time. */
  readonly bars: Bars
}

export interface CheckedBatch {
  readonly good: readonly GoodSeries[]
  readonly refused: readonly Refusal[]
  /** Bars that are refused only for the partitions of their message. */
  readonly scattered?: readonly GoodSeries[]
}

/** Splits the bars of one message into those that may be stored and refusals. */
export function checkBatch(message: readonly ReceivedSeries[], at: CheckContext): CheckedBatch {
  const count = message.reduce((sum, series) => sum + series.count, 0)
  if (count > batchBarsMax || message.length > batchBarsMax) {
    const got = `${count} bars in ${message.length} series`
    return { good: [], refused: [{ ...wholeSeries(0, count), ...tooMany(got) }] }
  }
  const good: GoodSeries[] = []
  const refused: Refusal[] = []
  const seen = new Set<string>()
  message.forEach((each, position) => {
    const checked = checkSeries(each, position, at, refused)
    if (checked === undefined) return
    if (seen.has(checked.id)) {
      const twice = malformed('series: given twice in one message')
      refused.push({ ...wholeSeries(position, each.count), ...twice })
      return
    }
    seen.add(checked.id)
    good.push(checked)
  })
  const { size } = partitionsOf(good.map(({ series: { resolution }, bars }) => ({ resolution, bars })))
  if (size > messagePartitionsMax) {
    const whole = message.map((each, i) => ({ ...wholeSeries(i, each.count), ...tooScattered(size) }))
    return { good: [], refused: whole, scattered: good }
  }
  return { good, refused }
}

const wholeSeries = (series: number, count: number) => ({ series, index: 0, count })
const malformed = (message: string) => fault('MALFORMED', message)
const tooMany = (got: string) => malformed(`series: got ${got}, wanted at most ${batchBarsMax} bars in total`)
const tooScattered = (got: number) =>
  malformed(
    `series: got bars in ${got} partitions, wanted at most ${messagePartitionsMax} in one message: send it by time ` +
      '(a partition is a week of M1, a month of M5 to M15, a year of other resolutions)',
  )

function checkSeries(
  message: ReceivedSeries,
  position: number,
  at: CheckContext,
  refused: Refusal[],
): GoodSeries | undefined {
  const refuse = (reason: RefusalReason, words: string): undefined => {
    refused.push({ ...wholeSeries(position, message.count), reason, message: words })
  }
  const { definition } = at
  const key = compoundKey(definition.key, message.symbol)
  const symbol = at.view.symbol(key)
  if (symbol === undefined) {
    const foreign = parseCompoundKey(message.symbol)?.feed
    if (foreign !== undefined && foreign !== definition.key && at.view.feed(foreign)) {
      return refuse('FOREIGN_FEED', `symbol: got ${show(message.symbol)}, in a session of ${definition.key}`)
    }
    const why = `symbol: got ${show(message.symbol)}, which ${definition.key} does not list`
    return refuse('UNKNOWN_SERIES', why)
  }
  const { resolution } = message
  if (!isResolution(resolution) || resolution === '30' || !definition.resolutions.includes(resolution)) {
    const wanted = definition.resolutions.filter((r) => r !== '30').join(', ')
    return refuse('UNKNOWN_SERIES', `resolution: got ${show(resolution)}, wanted one of ${wanted}`)
  }
  const wrongScale = scaleFault(message.scale, symbol, definition)
  if (wrongScale !== undefined) return refuse('SCALE', wrongScale)
  const { bars } = message
  if (typeof bars === 'string') return refuse('MALFORMED', bars)

  // The registry has one string per symbol, while `key` is a new string in each message.
  const series = { feed: definition.key, symbol: symbol.symbol, resolution }
  const id = seriesId(series)
  const kept = keepGood(bars, { position, resolution, symbol, newest: at.newestOf(id) }, at, refused)
  return barCount(kept) === 0 ? undefined : { id, series, scale: message.scale, bars: kept }
}

function scaleFault(
  scale: number,
  { digits }: SymbolRecord,
  { quoteBasis }: FeedDefinition,
): string | undefined {
  if (scale === digits || (quoteBasis === 'Mid' && scale === digits + 1)) return undefined
  const wanted = quoteBasis === 'Mid' ? `${digits} or ${digits + 1}` : `${digits}`
  return `scale: got ${scale}, wanted ${wanted}, the symbol's digits`
}

interface SeriesContext {
  readonly position: number
  readonly resolution: Resolution
  readonly symbol: SymbolRecord
  readonly newest: FeedSeconds | undefined
}

function keepGood(bars: Bars, of: SeriesContext, at: CheckContext, refused: Refusal[]): Bars {
  const { resolution, symbol, position } = of
  const retained = at.definition.retention[resolution]
  const limits = {
    now: at.latest,
    retention:
      retained === undefined || at.feedNow === undefined ? undefined : feedSeconds(at.feedNow - retained),
    earliest: at.definition.earliest,
  }
  const bar = { time: feedSeconds(0), open: 0, high: 0, low: 0, close: 0, volume: 0 }
  const good: number[] = []
  let last = Number.NEGATIVE_INFINITY
  const refuse = (index: number, reason: RefusalReason, message: string): void => {
    refused.push({ series: position, index, count: 1, reason, message })
  }
  for (let i = 0; i < barCount(bars); i++) {
    loadBar(bars, i, bar)
    const found = barFault(bar, resolution, limits) ?? revisionFault(bars.revision[i] as number, at.utcNow)
    if (found) refuse(i, found.reason, found.message)
    else if (bar.time <= last) {
      refuse(i, 'MALFORMED', `time: got ${bar.time}, wanted more than ${last}, that of the bar before`)
    } else {
      good.push(i)
      last = bar.time
    }
  }
  // A later bar closes every bar before it, independent of the clock.
  const newest = feedSeconds(Math.max(last, of.newest ?? Number.NEGATIVE_INFINITY))
  const moment = { now: at.feedNow, newest, delaySeconds: symbol.delaySeconds }
  if (good.length > 0 && !isClosed(feedSeconds(last), resolution, moment)) {
    const now =
      at.feedNow === undefined ? "the feed's clock is unknown" : `it is ${at.feedNow} on the feed's clock`
    refuse(good.pop() as number, 'NOT_CLOSED', `time: got ${last}, a bar that is still forming (${now})`)
  }
  return good.length === barCount(bars) ? bars : pickBars(bars, Uint32Array.from(good))
}

function revisionFault(revision: number, now: UtcMs): BarFault | undefined {
  const latest = now + revisionAheadMs
  if (Number.isSafeInteger(revision) && revision >= 1 && revision <= latest) return undefined
  return fault('REVISION', `revision: got ${revision}, wanted a whole number from 1 to ${latest}`)
}

export const refuseWhole = (reason: RefusalReason, message: string, count = 0): Refusal => ({
  ...wholeSeries(0, count),
  reason,
  message,
})
