import { type FeedSeconds, feedSeconds, wasSetBack } from '../../../core/clocks/feed-clock.ts'
import { barEnd, type Resolution } from '../../../core/feeds/resolution.ts'
import type { TerminalBar, TerminalSeries } from '../../../core/terminal/lines.ts'
import type { SourceBars } from '../../source.ts'
import { toBars } from './terminal-bars.ts'

/** Closed bars of a series that are remembered; a terminal sends its newest bars again each minute. */
const rememberedMax = 10

interface Swept extends TerminalSeries {
  /** The newest bar, which may still change. */
  forming: TerminalBar | undefined
  /** The last texts of the newest bars that were reported as closed, by their time. */
  reported: Map<FeedSeconds, string>
  /** Bars that closed with this post. */
  closed: TerminalBar[]
  /** Its newest bars come later: the forming one may not have its last value. */
  isLate: boolean
}

/**
 * The newest bars of all series as a terminal sweeps over them. Decides which have closed, and drops those that were
 * reported with the same values before.
 */
export class SweptBars {
  readonly #isDelayed: (raw: string) => boolean
  readonly #series = new Map<Resolution, Map<string, Swept>>()
  /** Series that this post has. */
  readonly #posted = new Set<Swept>()
  #closed = new Set<Swept>()

  constructor(isDelayed: (raw: string) => boolean) {
    this.#isDelayed = isDelayed
  }

  /** Open time of the bar that was swept last and may still be forming. */
  formingAt({ raw, resolution }: TerminalSeries): FeedSeconds | undefined {
    return this.#series.get(resolution)?.get(raw)?.forming?.time
  }

  /** Bars of one series, ascending. `lastIsOpen`: the last one may still be forming. */
  take(of: TerminalSeries, bars: readonly TerminalBar[], lastIsOpen: boolean): void {
    const last = bars.at(-1)
    if (!last) return
    const series = this.#of(of)
    const { forming } = series
    this.#posted.add(series)
    series.isLate = false
    // A later bar exists, so these have closed.
    if (forming && last.time < forming.time && !wasSetBack(forming.time, last.time))
      return this.#close(series, bars)
    series.forming = lastIsOpen ? last : undefined
    const isRead = forming === undefined || bars.some(({ time }) => time === forming.time)
    this.#close(series, [...(isRead ? [] : [forming]), ...(lastIsOpen ? bars.slice(0, -1) : bars)])
  }

  /** Another session sweeps now, perhaps from later bars on. The forming bars lack their last values: forget them. */
  restart(): void {
    for (const all of this.#series.values()) for (const series of all.values()) series.forming = undefined
  }

  /** The terminal cannot read the newest bars of this series. */
  late(of: TerminalSeries): void {
    this.#of(of).isLate = true
  }

  /** Raw names of the series that are late. */
  lateOf(resolution: Resolution): ReadonlySet<string> {
    const all = [...(this.#series.get(resolution)?.values() ?? [])]
    return new Set(all.flatMap(({ raw, isLate }) => (isLate ? [raw] : [])))
  }

  /**
   * The terminal has posted every closed bar that opened before `to`, except bars of late series. Returns the time before
   * which no bar forms.
   */
  watched(resolution: Resolution, to: FeedSeconds, tick: FeedSeconds | undefined): FeedSeconds {
    const ended = Math.max(to, tick ?? to)
    let until: number = to
    for (const series of this.#series.get(resolution)?.values() ?? []) {
      const { forming, isLate } = series
      if (!forming || isLate || forming.time >= to || this.#isDelayed(series.raw)) continue
      if (barEnd(forming.time, resolution) <= ended) this.#closeForming(series, forming)
      else until = Math.min(until, forming.time)
    }
    return feedSeconds(until)
  }

  /**
   * Returns the bars that closed with this post. A bar in this post closes if a tick shows its end. A bar of an earlier post
   * waits for the next sweep: its value may have changed. Without a tick since, `endedWithoutTick` closes bars of this
   * post, and minutes of earlier posts if this one sweeps.
   */
  closed(
    tick: FeedSeconds | undefined,
    endedWithoutTick: FeedSeconds | undefined,
    isSweep: boolean,
  ): SourceBars[] {
    const quiet = new Set(isSweep ? this.#series.get('1')?.values() : [])
    for (const series of this.#posted) {
      this.#closeUntil(series, tick)
      quiet.add(series)
    }
    this.#posted.clear()
    for (const series of quiet)
      if (!series.isLate && !hasEnded(series, tick)) this.#closeUntil(series, endedWithoutTick)
    const closed = [...this.#closed].map((series) => {
      const { raw, resolution, closed: bars } = series
      series.closed = []
      return { raw, resolution, bars: toBars(bars) }
    })
    this.#closed = new Set()
    return closed
  }

  /** These bars were not taken: the terminal posts them again. */
  forget(bars: readonly TerminalSeries[]): void {
    for (const each of bars) this.#of(each).reported.clear()
  }

  /** Forgets the series of other symbols. */
  keepOnly(isKnown: (raw: string) => boolean): void {
    for (const all of this.#series.values()) for (const raw of all.keys()) if (!isKnown(raw)) all.delete(raw)
  }

  #of({ raw, resolution }: TerminalSeries): Swept {
    const all = this.#series.get(resolution) ?? new Map<string, Swept>()
    this.#series.set(resolution, all)
    const series = all.get(raw) ?? {
      raw,
      resolution,
      forming: undefined,
      reported: new Map(),
      closed: [],
      isLate: false,
    }
    all.set(raw, series)
    return series
  }

  #closeUntil(series: Swept, time: FeedSeconds | undefined): void {
    const { forming, raw } = series
    if (forming && hasEnded(series, time) && !this.#isDelayed(raw)) this.#closeForming(series, forming)
  }

  #closeForming(series: Swept, forming: TerminalBar): void {
    series.forming = undefined
    this.#close(series, [forming])
  }

  #close(series: Swept, bars: readonly TerminalBar[]): void {
    for (const bar of bars) {
      const { time, open, high, low, close, volume } = bar
      const text = `${time} ${open} ${high} ${low} ${close} ${volume}`
      if (series.reported.get(time) === text) continue
      series.reported.set(time, text)
      if (series.reported.size > rememberedMax)
        series.reported.delete(Math.min(...series.reported.keys()) as FeedSeconds)
      series.closed.push(bar)
      this.#closed.add(series)
    }
  }
}

const hasEnded = ({ forming, resolution }: Swept, time: FeedSeconds | undefined): boolean =>
  forming !== undefined && time !== undefined && barEnd(forming.time, resolution) <= time
