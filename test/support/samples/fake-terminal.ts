import type {
  Source,
  SourceAnswer,
  SourceBars,
  SourceCapabilities,
  SourceListener,
  SourceSeries,
  SourceSymbol,
} from '../../../services/collector/source.ts'
import { allocateBars, type Bars, barCount } from '../../../services/core/bars/bar.ts'
import type { Span } from '../../../services/core/bars/window.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { durationSeconds, type Resolution } from '../../../services/core/feeds/resolution.ts'

export interface ReadCall extends SourceSeries {
  readonly span: Span
}

/** A simulated terminal whose bars are all computed from their time, so that every read can be checked. */
export class FakeTerminal implements Source {
  readonly terminal = 'paper'
  readonly capabilities: SourceCapabilities
  /** All reads, in order. */
  readonly reads: ReadCall[] = []
  /** Symbols of the first catalogue. */
  symbols: SourceSymbol[]
  /** Added to each close price, to distinguish revisions. */
  shift = 0
  /** Whether a tick comes when it is opened; none comes while markets are closed. */
  ticks = true
  /** Called before each answer; may throw. */
  beforeRead: (call: ReadCall) => void | Promise<void> = () => undefined
  readonly #now: () => number
  #listener: SourceListener | undefined
  #watchedFrom = 0

  constructor(
    symbols: readonly SourceSymbol[],
    now: () => number,
    capabilities: SourceCapabilities = { rereadable: true, reads: 'pieces', live: true },
  ) {
    this.symbols = [...symbols]
    this.#now = now
    this.capabilities = capabilities
  }

  get listener(): SourceListener {
    if (!this.#listener) throw new Error('the source was not opened')
    return this.#listener
  }

  get isOpen(): boolean {
    return this.#listener !== undefined
  }

  async open(listener: SourceListener): Promise<void> {
    this.#listener = listener
    this.#watchedFrom = this.#now()
    listener.catalogue(this.symbols, { snapshot: true })
    if (this.ticks) listener.tick(feedSeconds(this.#now()))
  }

  async *read(series: SourceSeries, span: Span, _signal: AbortSignal): AsyncGenerator<SourceAnswer> {
    const call = { raw: series.raw, resolution: series.resolution, span }
    this.reads.push(call)
    await this.beforeRead(call)
    const end = feedSeconds(Math.min(span.to, this.#now() + 1))
    const bars = this.bars(series.resolution, span.from, end)
    const half = Math.ceil(barCount(bars) / 2)
    for (const [from, to] of [
      [0, half],
      [half, barCount(bars)],
    ] as const) {
      if (from < to) yield { bars: slice(bars, from, to) }
    }
    yield { bars: allocateBars(0), complete: { from: span.from, to: end } }
  }

  /** All bars that open in `[from, to)`, including the forming bar. */
  bars(resolution: Resolution, from: number, to: number): Bars {
    const step = durationSeconds[resolution as '1']
    const first = Math.ceil(from / step)
    const count = Math.max(0, Math.ceil(to / step) - first)
    const bars = allocateBars(count)
    for (let i = 0; i < count; i++) {
      const time = (first + i) * step
      const units = 100_000 + ((time / step) % 500)
      bars.time[i] = time
      bars.open[i] = units / 1e5
      bars.high[i] = (units + 20) / 1e5
      bars.low[i] = (units - 20) / 1e5
      bars.close[i] = (units + 5 + this.shift) / 1e5
      bars.volume[i] = units % 97
    }
    return bars
  }

  /** Reports the closed bars of all symbols for the minute that ended now, and that no bar was missed. */
  closeMinute(): void {
    const to = this.#now()
    this.listener.tick(feedSeconds(to))
    this.listener.closed(this.symbols.map(({ raw }) => this.closedBars(raw, '1', to - 60, to)))
    this.listener.watched('1', { from: feedSeconds(this.#watchedFrom), to: feedSeconds(to) })
  }

  closedBars(raw: string, resolution: Resolution, from: number, to: number): SourceBars {
    return { raw, resolution, bars: this.bars(resolution, from, to) }
  }

  /** Simulates that the connection to the broker was lost until now. */
  interrupted(): void {
    this.#watchedFrom = this.#now()
  }
}

function slice(bars: Bars, from: number, to: number): Bars {
  const part = allocateBars(to - from)
  for (const column of ['time', 'open', 'high', 'low', 'close', 'volume'] as const) {
    part[column].set(bars[column].subarray(from, to))
  }
  return part
}

export const fakeSymbol = (raw: string, resolutions: readonly Resolution[] = ['1']): SourceSymbol => ({
  raw,
  digits: 5,
  type: 'forex',
  resolutions,
})
