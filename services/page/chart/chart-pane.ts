import { Fxd } from '../../../clients/typescript/src/fxd.ts'
import type { Bar, Resolution, SymbolDetails } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { nowSeconds } from '../browser.ts'
import { element, say } from '../elements.ts'
import { shade } from './gaps.ts'
import { legendText } from './legend.ts'
import { liveText, troubleText } from './live-text.ts'
import { Plot } from './plot.ts'
import { axisTime, isOfDays } from './resolutions.ts'
import { ChartSource } from './source.ts'

/** A retry that is not told to have failed after this time has connected. */
const connectSeconds = 10

export type ClockName = 'feed' | 'utc'

interface Wanted {
  readonly note: (text: string) => void
  /** The bars or the gaps changed. */
  readonly changed: () => void
  readonly signal: AbortSignal
}

/** A chart with its legend, on the clock that is chosen. */
export class ChartPane {
  readonly element: HTMLElement
  readonly #app: App
  readonly #details: SymbolDetails
  readonly #resolution: Resolution
  readonly #wanted: Wanted
  readonly #source: ChartSource
  readonly #legend = element('p', { class: 'legend', 'aria-live': 'polite' })
  readonly #place = element('div', {
    class: 'plot',
    tabindex: 0,
    role: 'img',
    'aria-label': 'Bars and volume. Left and right arrows read the bars.',
  })
  #plot: Plot | undefined
  #clock: ClockName = 'feed'
  /** Why new bars do not come; empty: nothing is known to be wrong. */
  #trouble = ''
  #troubleTo = 0
  /** Seconds from the clock of the feed to the axis. */
  #shift = 0
  /** Open times of the bars on the axis. */
  #times: number[] = []
  /** Open time of the bar that the legend shows; `undefined`: the last. */
  #marked: number | undefined

  constructor(app: App, details: SymbolDetails, resolution: Resolution, wanted: Wanted) {
    this.#app = app
    this.#details = details
    this.#resolution = resolution
    this.#wanted = wanted
    const hasMinutes = details.supported_resolutions.includes('1')
    const told = (message: string, fields: object): void => this.#warned(message, fields)
    const logger = { info: told, warn: told }
    const fxd = new Fxd({ url: app.origin, key: app.rest.readKey, logger })
    const shown = {
      redraw: (moved?: 'newest' | number) => this.#redraw(moved),
      redrawLast: () => this.#redrawLast(),
      ended: (text: string) => this.#tell(text, Number.POSITIVE_INFINITY),
      note: wanted.note,
    }
    this.#source = new ChartSource(
      { fxd, rest: app.rest, refused: (error) => app.refused(error) },
      { symbol: details.symbol, resolution, hasMinutes },
      shown,
      wanted.signal,
    )
    this.#place.addEventListener('keydown', (event) => this.#move(event))
    this.#place.addEventListener('mouseleave', () => this.#describe(undefined))
    this.element = element('div', { class: 'panel' }, this.#legend, this.#place)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const { signal } = wanted
    dark.addEventListener('change', () => this.#plot?.color(), { signal })
    app.onStatus(() => {
      this.#moveAxis()
      if (nowSeconds() > this.#troubleTo) this.#trouble = ''
      if (this.#plot) wanted.changed()
    }, signal)
    signal.addEventListener('abort', () => this.#plot?.remove())
  }

  get first(): Bar | undefined {
    return this.#source.series.first
  }

  get last(): Bar | undefined {
    return this.#source.series.last
  }

  get count(): number {
    return this.#source.series.bars.length
  }

  /** Gaps between the first and the last bar. */
  get gaps(): number {
    const { first, last } = this
    if (!first || !last) return 0
    return this.#source.gaps.filter(({ from, to }) => to >= first.time && from <= last.time).length
  }

  get isLive(): boolean {
    return this.#source.isLive
  }

  /** Whether new bars come, in a sentence. */
  get liveText(): string {
    return liveText(this.isLive, this.#trouble, this.#app.status.feeds[this.#details.feed]?.status)
  }

  #warned(message: string, fields: object): void {
    const text = troubleText(message, fields)
    if (text === undefined) return
    const retryInMs = 'retryInMs' in fields ? Number(fields.retryInMs) : 0
    // The reason for an end was told before.
    const isTold = this.#trouble !== '' && message.startsWith('socket ended')
    this.#tell(isTold ? this.#trouble : text, nowSeconds() + retryInMs / 1_000 + connectSeconds)
  }

  #tell(trouble: string, to: number): void {
    this.#trouble = trouble
    this.#troubleTo = to
    this.#wanted.changed()
  }

  /** Shows the newest bars, or those around a time on the chosen clock. */
  open(time?: number): void {
    void this.#source.open(time === undefined ? undefined : time - this.#shift)
  }

  set clock(clock: ClockName) {
    this.#clock = clock
    this.#moveAxis()
  }

  /** The axis of UTC needs the clock of the feed. */
  get hasUtc(): boolean {
    return this.#offset !== undefined
  }

  get #offset(): number | undefined {
    return this.#app.status.feeds[this.#details.feed]?.clock_offset_seconds
  }

  /** All bars move at once, since the plot takes no bar that is older than its last. */
  #moveAxis(): void {
    const shift = (this.#clock === 'utc' && this.#offset) || 0
    if (shift === this.#shift) return this.#describe(this.#marked)
    this.#shift = shift
    if (this.#plot) this.#redraw()
  }

  #onAxis(time: number): number {
    return axisTime(this.#resolution, time, this.#shift)
  }

  #redraw(moved?: 'newest' | number): void {
    const { bars } = this.#source.series
    const opens = bars.map(({ time }) => time)
    const { blanks, bands } = shade(this.#resolution, opens, this.#source.gaps)
    this.#times = opens.map((time) => this.#onAxis(time))
    this.#plot ??= this.#makePlot()
    this.#plot.draw(
      bars,
      this.#times,
      blanks.map((time) => this.#onAxis(time)),
      bands.map(({ from, to }) => ({ from: this.#onAxis(from), to: this.#onAxis(to) })),
    )
    if (moved === 'newest') this.#plot.toNewest()
    else if (moved !== undefined) this.#plot.toTime(this.#onAxis(moved))
    this.#describe(moved === undefined ? this.#marked : undefined)
    this.#wanted.changed()
  }

  #redrawLast(): void {
    const { last } = this
    if (!last || !this.#plot) return
    this.#trouble = ''
    const time = this.#onAxis(last.time)
    if (this.#times.at(-1) !== time) this.#times.push(time)
    this.#plot.drawLast(last, this.#times)
    this.#describe(this.#marked)
    this.#wanted.changed()
  }

  #makePlot(): Plot {
    return new Plot({
      place: this.#place,
      digits: this.#details.digits,
      isOfDays: isOfDays(this.#resolution),
      nearBegin: () => void this.#source.older(),
      nearEnd: () => void this.#source.newer(),
      pointed: (index) => this.#describe(this.#source.series.bars[index ?? -1]?.time),
    })
  }

  #describe(time: number | undefined): void {
    this.#marked = time
    const bar = this.#source.series.bars[this.#markedIndex]
    const offset = this.#offset
    if (!bar) return say(this.#legend, '')
    const utc = offset === undefined ? undefined : bar.time + offset
    const { digits } = this.#details
    say(this.#legend, legendText({ bar, digits, isOfDays: isOfDays(this.#resolution), utc }))
  }

  get #markedIndex(): number {
    const { bars } = this.#source.series
    if (this.#marked === undefined) return bars.length - 1
    const index = bars.findLastIndex(({ time }) => time === this.#marked)
    return index < 0 ? bars.length - 1 : index
  }

  /** Arrows move from bar to bar, Home and End to the first and the last. */
  #move(event: KeyboardEvent): void {
    const { bars } = this.#source.series
    const end = bars.length - 1
    const present = this.#markedIndex
    const goals: Readonly<Record<string, number>> = {
      ArrowLeft: present - 1,
      ArrowRight: present + 1,
      Home: 0,
      End: end,
    }
    const goal = goals[event.key]
    if (goal === undefined) return
    event.preventDefault()
    const index = Math.max(0, Math.min(end, goal))
    const bar = bars[index]
    if (!bar) return
    this.#plot?.mark(index, bar)
    this.#describe(bar.time)
  }
}
