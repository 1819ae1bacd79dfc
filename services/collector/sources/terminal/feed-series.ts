import { bucketOpen } from '../../../core/bars/derive.ts'
import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { SourceListener, SourceSeries } from '../../source.ts'
import { mt4FinerOf, mt4LongerOf } from './derived-bars.ts'

/** The series of a feed, as its manifest and the catalogue of its terminal name them. */
export class FeedSeries {
  /** Those of the feed; 30 is folded when it is read. */
  readonly resolutions: readonly Resolution[]
  /** Raw names that the manifest lists. */
  readonly listed: readonly string[]
  /** MetaTrader 4 lacks resolutions, which are derived. */
  isMt4 = false
  raws: ReadonlySet<string> = new Set()
  readonly #delays: ReadonlyMap<string, number | undefined>
  readonly #delaySeconds: number

  constructor({ resolutions, symbols, delaySeconds }: FeedDefinition) {
    this.resolutions = resolutions.filter((r) => r !== '30')
    this.listed = symbols.map(({ raw }) => raw)
    this.#delays = new Map(symbols.map((symbol) => [symbol.raw, symbol.delaySeconds]))
    this.#delaySeconds = delaySeconds
  }

  /** The series that the terminal sweeps, finest first. */
  get swept(): readonly SourceSeries[] {
    const resolutions = new Set(this.resolutions.map((r) => this.finerOf(r) ?? r))
    return [...resolutions].flatMap((resolution) => [...this.raws].map((raw) => ({ raw, resolution })))
  }

  isCollected({ raw, resolution }: SourceSeries): boolean {
    return this.raws.has(raw) && this.resolutions.includes(resolution)
  }

  isDelayed(raw: string): boolean {
    return (this.#delays.get(raw) ?? this.#delaySeconds) > 0
  }

  /** The resolution from which this one is folded; `undefined`: the terminal has it. */
  finerOf(r: Resolution): Resolution | undefined {
    return this.isMt4 ? mt4FinerOf(r) : undefined
  }

  /** The resolution of the feed that is folded from this one. */
  longerOf(r: Resolution): Resolution | undefined {
    const longer = this.isMt4 ? mt4LongerOf(r) : undefined
    return longer && this.resolutions.includes(longer) ? longer : undefined
  }

  /** The resolutions whose bars a sweep of this one gives. */
  givenBy(r: Resolution): readonly Resolution[] {
    const longer = this.longerOf(r)
    return longer ? [r, longer] : [r]
  }

  /** The time from which a terminal sweeps this series: the open of a longer bar, if longer bars are folded from it. */
  sweptFrom(series: SourceSeries, listener: SourceListener): FeedSeconds | undefined {
    const longer = this.longerOf(series.resolution)
    if (!longer) return listener.reportFrom(series)
    const from = listener.reportFrom(series) ?? listener.reportFrom({ ...series, resolution: longer })
    return from && bucketOpen(from, longer)
  }
}
