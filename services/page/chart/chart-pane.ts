import { Fxd } from '../../../clients/typescript/src/fxd.ts'
import type { Resolution, SymbolDetails } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { nowSeconds } from '../browser.ts'
import { element, say } from '../elements.ts'
import { timeText } from '../texts/words.ts'
import { indexAtMost } from './ascending.ts'
import type { BarSeries } from './bar-series.ts'
import { shade } from './gaps.ts'
import { legendText } from './legend.ts'
import { liveText, troubleText } from './live-text.ts'
import { Plot } from './plot.ts'
import { axisTime, barsOf, isOfDays } from './resolutions.ts'
import { ChartSource } from './source.ts'

/** A retry that is not told to have failed after this time has connected. */
const connectSeconds = 10

export type ClockName = 'feed' | 'utc'

interface Wanted {
  readonly note: (text: string) => void
  /** What a person should know about the bars on the screen. */
  readonly hint: (text: string) => void
  /** The first bars came: the element must be on the page now. */
  readonly ready: () => void
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
  shift = 0
  /** Open times of the bars on the axis. */
  #times: number[] = []
  /** Open time of the bar under the pointer. */
  #marked: number | undefined
  /** Open time of the bar that a person jumped to. */
  #jumped: number | undefined
  /** Whether the newest bar is on the screen. */
  isNewest = true

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
      beginsLater: (first: number) => this.#beginsLater(first),
    }
    this.#source = new ChartSource(
      { fxd, rest: app.rest, refused: (error) => app.refused(error) },
      { symbol: details.symbol, resolution, hasMinutes },
      shown,
      wanted.signal,
    )
    this.#place.addEventListener('keydown', (event) => this.#move(event))
    this.#place.addEventListener('mouseleave', () => this.#describe(undefined))
    this.#place.addEventListener('blur', () => {
      this.#plot?.unmark()
      this.#describe(undefined)
    })
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

  get isUtc(): boolean {
    return this.#clock === 'utc' && this.hasUtc
  }

  /** A time of the feed's clock in words, on the axis. */
  timeText(time: number): string {
    return timeText(this.#onAxis(time), isOfDays(this.#resolution))
  }

  get series(): BarSeries {
    return this.#source.series
  }

  /** Gaps between the first and the last bar. */
  get gaps(): number {
    const { first, last } = this.series
    if (!first || !last) return 0
    return this.#source.gaps.filter(({ from, to }) => to >= first.time && from <= last.time).length
  }

  get #isLive(): boolean {
    return this.#source.isLive
  }

  /** Whether new bars come, in a sentence. */
  get liveText(): string {
    return liveText(this.#isLive, this.#trouble, this.#app.status.feeds[this.#details.feed]?.status)
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

  /** Shows the newest bars, or those around a time on the clock of the feed. */
  open(time?: number): void {
    this.#wanted.hint('')
    void this.#source.open(time)
  }

  /** Asks for the newest bars only if they are not there. */
  toNewest(): void {
    if (!this.#isLive) return this.open()
    this.#plot?.toNewest()
    this.#jumped = undefined
    this.#pointAtJump()
    this.#describe(undefined)
  }

  #beginsLater(first: number): void {
    const more = this.#resolution === '1M' ? '' : ' Longer resolutions may reach back further.'
    const begin = timeText(this.#onAxis(first), true)
    this.#wanted.hint(`${barsOf(this.#resolution)} begin on ${begin}.${more}`)
  }

  #pointAtJump(): void {
    this.#plot?.point(this.#jumped === undefined ? undefined : this.#onAxis(this.#jumped))
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
    if (shift === this.shift) return this.#describe(this.#marked)
    this.shift = shift
    if (this.#plot) this.#redraw()
  }

  #onAxis(time: number): number {
    return axisTime(this.#resolution, time, this.shift)
  }

  #redraw(moved?: 'newest' | number): void {
    const { bars } = this.series
    const opens = bars.map(({ time }) => time)
    const { blanks, bands } = shade(this.#resolution, opens, this.#source.gaps)
    this.#times = opens.map((time) => this.#onAxis(time))
    if (!this.#plot) this.#wanted.ready()
    this.#plot ??= this.#makePlot()
    this.#plot.draw(
      bars,
      this.#times,
      blanks.map((time) => this.#onAxis(time)),
      bands.map(({ from, to }) => ({ from: this.#onAxis(from), to: this.#onAxis(to) })),
    )
    if (moved === 'newest') this.#plot.toNewest()
    else if (moved !== undefined) this.#plot.toTime(this.#onAxis(moved))
    if (moved !== undefined) this.#marked = undefined
    if (moved === 'newest') this.#jumped = undefined
    else if (moved !== undefined) this.#jumped = opens[Math.max(0, indexAtMost(opens, moved))]
    this.#pointAtJump()
    this.#moved()
    this.#wanted.changed()
  }

  #redrawLast(): void {
    const { last } = this.series
    if (!last || !this.#plot) return
    this.#trouble = ''
    const time = this.#onAxis(last.time)
    if (this.#times.at(-1) !== time) {
      this.#times.push(time)
      // A person who reads the last bar goes on to the new one.
      if (this.#marked === this.series.bars.at(-2)?.time) this.#marked = undefined
    }
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
      moved: () => this.#moved(),
      pointed: (index) => this.#describe(this.series.bars[index ?? -1]?.time),
    })
  }

  #moved(): void {
    this.#describe(this.#marked)
    const isNewest = this.#isLive && this.#plot?.lastSeen === this.series.bars.length - 1
    if (isNewest === this.isNewest) return
    this.isNewest = isNewest
    this.#wanted.changed()
  }

  #describe(time: number | undefined): void {
    this.#marked = time
    const bar = this.series.bars[this.#markedIndex]
    const offset = this.#offset
    if (!bar) return say(this.#legend, '')
    const utc = offset === undefined ? undefined : bar.time + offset
    const { digits } = this.#details
    say(this.#legend, legendText({ bar, digits, isOfDays: isOfDays(this.#resolution), utc }))
  }

  /** Index of the bar that a person points at or jumped to; without one the last on the screen. */
  get #markedIndex(): number {
    const { bars } = this.series
    const indexOf = (wanted: number | undefined): number =>
      wanted === undefined ? -1 : bars.findLastIndex(({ time }) => time === wanted)
    const marked = indexOf(this.#marked)
    if (marked >= 0) return marked
    const jumped = indexOf(this.#jumped)
    if (jumped >= 0 && this.#plot?.isSeen(jumped)) return jumped
    return this.#plot?.lastSeen ?? bars.length - 1
  }

  /** Arrows move from bar to bar, Home and End to the first and the last. */
  #move(event: KeyboardEvent): void {
    const { bars } = this.series
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
