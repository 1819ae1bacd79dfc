import { bucketOpen } from '../../../core/bars/derive.ts'
import { windowFromMin } from '../../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { TerminalBar, TerminalLine, TerminalSeries } from '../../../core/terminal/lines.ts'
import type { SourceListener } from '../../source.ts'
import { DerivedBars, type SweptGroup } from './derived-bars.ts'
import type { FeedSeries } from './feed-series.ts'
import { SweptBars } from './swept-bars.ts'
import { NotTaken } from './terminal-feed.ts'
import type { TerminalSession } from './terminal-session.ts'
import type { TickClock } from './tick-clock.ts'

/** Reports the bars and the windows of sweeps, also of the longer bars that the terminal lacks. */
export class Sweeps {
  readonly #series: FeedSeries
  readonly #swept: SweptBars
  readonly #derived = new DerivedBars()

  constructor(series: FeedSeries) {
    this.#series = series
    this.#swept = new SweptBars((raw) => series.isDelayed(raw))
  }

  /** Another session of the terminal sweeps from now on. */
  restart(): void {
    this.#swept.restart()
  }

  /** The catalogue has changed: forgets the series of other symbols. */
  keepListed(): void {
    this.#swept.keepOnly((raw) => this.#series.raws.has(raw))
  }

  /** The terminal was told to sweep this series from this time on. */
  begin(series: TerminalSeries, from: FeedSeconds | undefined): void {
    if (this.#series.longerOf(series.resolution)) this.#derived.begin(series, from)
  }

  /** Open time of the bar that was swept last and may still be forming. */
  formingAt(series: TerminalSeries): FeedSeconds | undefined {
    return this.#swept.formingAt(series)
  }

  /** `others`: the bars of the group that answer no range of history. */
  take({ series, bars, lastIsOpen }: SweptGroup, others: readonly TerminalBar[]): void {
    const isFolded = this.#series.longerOf(series.resolution) !== undefined
    const derived = isFolded ? this.#derived.take(series, bars, lastIsOpen) : undefined
    this.#sweep({ series, bars: others, lastIsOpen: lastIsOpen && others.at(-1) === bars.at(-1) })
    if (derived) this.#sweep(derived)
  }

  /** The terminal cannot read the newest bars of this series. */
  late(series: TerminalSeries): void {
    for (const resolution of this.#series.givenBy(series.resolution))
      if (this.#series.isCollected({ ...series, resolution })) this.#swept.late({ ...series, resolution })
  }

  /** Resolves once the bars that have closed with this post are spooled; rejects with `NotTaken` if they cannot be. */
  async report(
    session: TerminalSession,
    { listener, ticks }: { readonly listener: SourceListener; readonly ticks: TickClock },
    lines: readonly TerminalLine[],
  ): Promise<void> {
    const isSweep = lines.some(({ line }) => line === 'connected')
    const watched = lines.flatMap((line) => {
      if (line.line !== 'watched') return []
      const { resolution } = line
      const to = feedSeconds(Math.min(line.to, ticks.latest))
      if (!session.isWhole(resolution, to, listener)) return []
      return this.#series.givenBy(resolution).map((each) => ({
        resolution: each,
        to: this.#swept.watched(each, bucketOpen(to, each), session.tick),
      }))
    })
    const ended = session.isLive && session.isConnected ? session.endedWithoutTick : undefined
    const closed = this.#swept.closed(session.tick, ended, isSweep)
    try {
      const batch = closed.map((each) => ({
        ...each,
        isClosed: true,
        derived: this.#series.finerOf(each.resolution) !== undefined,
      }))
      if (batch.length > 0) await listener.closed(batch).spooled
    } catch (cause) {
      this.#swept.forget(closed)
      throw new NotTaken('The collector could not write to its disk.', { cause })
    }
    if (isSweep) session.endedWithoutTick = ticks.endedWithoutTick
    // Each sweep begins at the newest bar that the collector has, so it misses none.
    for (const { resolution, to } of watched)
      listener.watched(resolution, { from: windowFromMin, to }, this.#swept.lateOf(resolution))
  }

  #sweep({ series, bars, lastIsOpen }: SweptGroup): void {
    if (this.#series.isCollected(series)) this.#swept.take(series, bars, lastIsOpen)
  }
}
