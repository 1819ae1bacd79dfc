import { asFxdError } from '../../../clients/typescript/src/error.ts'
import { type Columns, toBars } from '../../../clients/typescript/src/history.ts'
import { sleep } from '../../../clients/typescript/src/pause.ts'
import type { Bar, Item, Range, Resolution } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { type Asking, askPatiently } from '../asking.ts'
import { failureText } from '../texts/failures.ts'
import { BarSeries } from './bar-series.ts'
import { gapsBetween } from './gaps.ts'
import { Renewal } from './renewal.ts'
import { nextOpen, openOf } from './resolutions.ts'

const pageBars = 2_000
/** Bars that are shown behind a time to which a person jumps. */
const behindJump = 500
/** Bars that history may have closed or corrected since the page folded them. */
const tailBars = 3
const pollMs = 60_000

type Service = Pick<App, 'fxd' | 'rest' | 'refused'>

interface Shown {
  /** All bars or gaps changed. `moved`: the view goes to the newest bar, or to this time. */
  redraw(moved?: 'newest' | number): void
  /** Only the last bar changed, or one was added. */
  redrawLast(): void
  /** No new bars come any more. */
  ended(why: string): void
  note(text: string): void
  /** A person jumped to a time before the first bar, which opens at `first`. */
  beginsLater(first: number): void
}

/** Brings the bars of one symbol and resolution: history in both directions, live bars, corrections and gaps. */
export class ChartSource {
  readonly series: BarSeries
  readonly #app: Service
  readonly #symbol: string
  readonly #hasMinutes: boolean
  readonly #shown: Shown
  readonly #asking: Asking
  readonly #signal: AbortSignal
  #gaps: readonly Range[] | undefined
  #isAtBegin = false
  readonly #busy = new Set<'older' | 'newer'>()
  /** Bars behind those that are shown; `undefined` while the newest bar is shown. */
  #ahead: AsyncGenerator<Bar, void, undefined> | undefined
  #live = new AbortController()

  constructor(
    app: Service,
    { symbol, resolution, hasMinutes }: { symbol: string; resolution: Resolution; hasMinutes: boolean },
    shown: Shown,
    signal: AbortSignal,
  ) {
    this.#app = app
    this.#symbol = symbol
    this.#hasMinutes = hasMinutes
    this.#shown = shown
    this.#signal = signal
    this.series = new BarSeries(resolution)
    this.#asking = { signal, note: (text) => shown.note(text), refused: (error) => app.refused(error) }
    signal.addEventListener('abort', () => this.#live.abort())
  }

  get gaps(): readonly Range[] {
    return this.#gaps ?? []
  }

  /** Whether the newest bar is shown, and new ones are added. */
  get isLive(): boolean {
    return this.#ahead === undefined
  }

  /** Shows the newest bars, or those around a time. */
  async open(time?: number): Promise<void> {
    this.#live.abort()
    this.#live = new AbortController()
    this.#isAtBegin = false
    this.#ahead = undefined
    const { series } = this
    let to: number | undefined
    if (time !== undefined) {
      to = time
      for (let i = 0; i < behindJump; i++) to = nextOpen(series.resolution, to)
    }
    const live = this.#live
    const bars = await this.#ask({ countback: pageBars, to })
    if (!bars) return
    series.clear()
    series.merge(bars)
    const { last } = series
    const after = time === undefined ? undefined : (last?.time ?? time)
    this.#ahead = after === undefined ? undefined : this.#behind(after)
    this.#isAtBegin = bars.length < pageBars
    if (after !== undefined && !last && !(await this.#takePage(after))) return
    const first = series.first?.time
    const isBefore = time !== undefined && first !== undefined && time < first
    const moved = isBefore ? first : time
    this.#shown.redraw(moved ?? 'newest')
    if (isBefore) this.#shown.beginsLater(first)
    if (this.isLive) void this.#follow(live.signal)
    else if (this.#gaps) return
    if ((await this.#readCoverage()) && live === this.#live) this.#shown.redraw(moved)
  }

  /** Adds a page before the first bar. */
  async older(): Promise<void> {
    const { first } = this.series
    if (!first || this.#isAtBegin) return
    await this.#once('older', async () => {
      const bars = await this.#ask({ countback: pageBars, to: first.time - 1 })
      if (!bars) return
      this.#isAtBegin = bars.length === 0
      this.series.merge(bars)
      this.#shown.redraw()
    })
  }

  /** Adds a page behind the last bar; from the newest bar on live bars follow. */
  async newer(): Promise<void> {
    const { last } = this.series
    if (!this.#ahead || !last) return
    await this.#once('newer', async () => {
      if (!(await this.#takePage(last.time))) return
      this.#shown.redraw()
      if (this.isLive) void this.#follow(this.#live.signal)
    })
  }

  /** Takes the bars after a time; returns whether they still belong to the chart. */
  async #takePage(after: number): Promise<boolean> {
    const live = this.#live
    const bars: Bar[] = []
    const next = async () => {
      try {
        return await this.#ahead?.next()
      } catch (cause) {
        // A generator that threw gives nothing more.
        if (live === this.#live) this.#ahead = this.#behind(bars.at(-1)?.time ?? after)
        throw cause
      }
    }
    while (bars.length < pageBars) {
      const bar = await askPatiently(next, this.#asking)
      if (!bar || live !== this.#live) return false
      if (bar.done) {
        this.#ahead = undefined
        break
      }
      bars.push(bar.value)
    }
    this.series.merge(bars)
    return true
  }

  /** One page at a time on each side. */
  async #once(side: 'older' | 'newer', run: () => Promise<void>): Promise<void> {
    if (this.#busy.has(side)) return
    this.#busy.add(side)
    await run().finally(() => this.#busy.delete(side))
  }

  #behind(time: number): AsyncGenerator<Bar, void, undefined> {
    const { resolution } = this.series
    return this.#app.fxd.history(this.#symbol, { resolution, from: time + 1 })
  }

  async #ask(range: Readonly<Record<string, number | undefined>>): Promise<Bar[] | undefined> {
    const { resolution } = this.series
    const query = { symbol: this.#symbol, resolution, ...range }
    const live = this.#live
    const answer = await askPatiently(
      () => this.#app.rest.get<Columns>('history', query, this.#signal),
      this.#asking,
    )
    return answer && live === this.#live ? toBars(answer) : undefined
  }

  /** Returns whether it was read. Bars of 30 minutes are folded from minutes, and have their gaps. */
  async #readCoverage(): Promise<boolean> {
    const resolution = this.series.resolution === '30' ? '1' : this.series.resolution
    const query = { symbol: this.#symbol, resolution }
    const answer = await askPatiently(
      () => this.#app.rest.get<{ coverage: Range[] }>('coverage', query, this.#signal),
      this.#asking,
    )
    if (answer) this.#gaps = gapsBetween(resolution, answer.coverage)
    return answer !== undefined
  }

  async #follow(live: AbortSignal): Promise<void> {
    if (!this.#hasMinutes) return this.#poll(live)
    const { last, resolution } = this.series
    const options = { revisions: true, ...(last && { from: nextOpen(resolution, last.time) }) }
    const renewal = new Renewal((range) => this.#refresh(range), live)
    const stream = this.#app.fxd.bars(this.#symbol, options)
    live.addEventListener('abort', () => void stream.return())
    try {
      for await (const item of stream) this.#take(item, renewal)
    } catch (cause) {
      const error = asFxdError(cause)
      if (!this.#app.refused(error)) this.#shown.ended(failureText(error))
    }
  }

  #take(item: Item, renewal: Renewal): void {
    if (item.type !== 'bar') return renewal.add(item)
    const { symbol: _, type: __, ...bar } = item
    const began = this.series.add(bar)
    this.#shown.redrawLast()
    const { bars, resolution } = this.series
    const from = bars.at(-tailBars)?.time ?? bar.time
    if (began && resolution !== '1') renewal.add({ from, to: bar.time })
  }

  /** Reads bars again that are shown, and the gaps. */
  async #refresh(range: { from?: number; to?: number; countback?: number }): Promise<void> {
    const { first, resolution } = this.series
    const oldest = first?.time ?? 0
    const { from = oldest, to = from, countback } = range
    const begin = Math.max(openOf(resolution, from, oldest), oldest)
    if (begin > to) return
    const bars = await this.#ask(countback === undefined ? { from: begin, to } : { countback })
    if (!bars) return
    this.series.merge(bars.filter(({ time }) => time >= oldest))
    if (await this.#readCoverage()) this.#shown.redraw()
  }

  /** A symbol without one-minute bars is not pushed. */
  async #poll(live: AbortSignal): Promise<void> {
    while (!live.aborted) {
      await sleep(pollMs, live)
      if (!live.aborted) await this.#refresh({ countback: tailBars })
    }
  }
}
