import {
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  PriceLineSource,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import type { Bar, Range } from '../../../clients/typescript/src/types.ts'
import { colorOf } from '../elements.ts'
import { indexAtMost, indexIn } from './ascending.ts'
import { Bands } from './bands.ts'

/** Bars that are still to the left when the page asks for more. */
const marginBars = 150
/** Bars on each side of a time that was jumped to. */
const middleBars = 60

interface PlotWanted {
  readonly place: HTMLElement
  readonly digits: number
  readonly isOfDays: boolean
  readonly nearBegin: () => void
  readonly nearEnd: () => void
  /** Other bars are on the screen. */
  readonly moved: () => void
  /** The bar below the pointer; `undefined`: none. */
  readonly pointed: (index: number | undefined) => void
}

/** A time, and the numbers of bars on its sides. */
interface Goal {
  readonly time: number
  readonly before: number
  readonly behind: number
}

/** Draws bars and shaded gaps. All times are those of the axis. */
export class Plot {
  readonly #chart: IChartApi
  readonly #prices: ISeriesApi<'Candlestick'>
  readonly #volumes: ISeriesApi<'Histogram'>
  readonly #bands = new Bands()
  readonly #arrow: ISeriesMarkersPluginApi<Time>
  #times: readonly number[] = []
  /** Bars and blanks. */
  #points = 0
  readonly #near: { readonly begin: () => void; readonly end: () => void }
  /** What the next frames show. */
  #goal: Goal | undefined
  #isDrawing = false

  constructor({ place, digits, isOfDays, nearBegin, nearEnd, moved, pointed }: PlotWanted) {
    this.#chart = createChart(place, {
      autoSize: true,
      // The logo adds a style that the policy of the page forbids; the text below the chart names its makers.
      layout: { attributionLogo: false, fontFamily: getComputedStyle(place).fontFamily },
      timeScale: { timeVisible: !isOfDays, secondsVisible: false, rightOffset: 4, minBarSpacing: 0.5 },
      localization: { dateFormat: 'yyyy-MM-dd' },
    })
    const priceFormat = { type: 'price', precision: digits, minMove: 10 ** -digits } as const
    // The label of the axis is the last price on the screen, so the line is too.
    const priceLineSource = PriceLineSource.LastVisible
    this.#prices = this.#chart.addSeries(CandlestickSeries, { priceFormat, priceLineSource })
    this.#volumes = this.#chart.addSeries(HistogramSeries, {
      priceFormat: { type: 'volume' },
      priceScaleId: '',
      lastValueVisible: false,
      priceLineVisible: false,
    })
    this.#volumes.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } })
    this.#prices.priceScale().applyOptions({ scaleMargins: { top: 0.08, bottom: 0.22 } })
    this.#prices.attachPrimitive(this.#bands)
    this.#arrow = createSeriesMarkers(this.#prices)
    this.color()
    this.#near = { begin: nearBegin, end: nearEnd }
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange(() => {
      if (this.#times.length === 0 || this.#isDrawing) return
      moved()
      if (!this.#goal) this.#look()
    })
    this.#chart.subscribeCrosshairMove(({ time, sourceEvent }) => {
      // Without an event the page itself moved it, such as by drawing all bars again.
      if (sourceEvent) pointed(typeof time === 'number' ? indexIn(this.#times, time) : undefined)
    })
  }

  color(): void {
    const line = { color: colorOf('grid') }
    this.#chart.applyOptions({
      layout: { background: { color: colorOf('panel') }, textColor: colorOf('soft') },
      grid: { vertLines: line, horzLines: line },
      timeScale: { borderColor: colorOf('line') },
      rightPriceScale: { borderColor: colorOf('line') },
    })
    const [upColor, downColor] = [colorOf('up'), colorOf('down')]
    this.#prices.applyOptions({
      upColor,
      downColor,
      borderVisible: false,
      wickUpColor: upColor,
      wickDownColor: downColor,
    })
    this.#volumes.applyOptions({ color: colorOf('volume') })
    this.#bands.color = colorOf('gap')
  }

  /** Draws all bars again; `times` are those of the bars on the axis. */
  draw(
    bars: readonly Bar[],
    times: readonly number[],
    blanks: readonly number[],
    bands: readonly Range[],
  ): void {
    // The library keeps the place only where less is added than there was.
    const goal = this.#goal ?? (times.length > this.#times.length ? this.#seen : undefined)
    this.#times = times
    this.#points = times.length + blanks.length
    const prices = bars.map(({ open, high, low, close }, i) => ({
      time: at(times[i]),
      open,
      high,
      low,
      close,
    }))
    const volumes = bars.map(({ volume }, i) => ({ time: at(times[i]), value: volume }))
    const empty = blanks.map((time) => ({ time: at(time) }))
    const ascending = <T extends { time: UTCTimestamp }>(points: T[]): T[] =>
      empty.length === 0 ? points : points.toSorted((a, b) => a.time - b.time)
    this.#bands.bands = bands
    this.#isDrawing = true
    this.#prices.setData(ascending([...prices, ...empty]))
    this.#volumes.setData(ascending([...volumes, ...empty]))
    this.#isDrawing = false
    if (goal) this.#goTo(goal)
  }

  drawLast({ open, high, low, close, volume }: Bar, times: readonly number[]): void {
    this.#times = times
    const time = at(times.at(-1))
    this.#prices.update({ time, open, high, low, close })
    this.#volumes.update({ time, value: volume })
  }

  /** Points an arrow at the bar that a person jumped to. */
  point(time: number | undefined): void {
    const color = colorOf('accent')
    const arrow = { time: at(time), position: 'aboveBar', shape: 'arrowDown', color } as const
    this.#arrow.setMarkers(time === undefined ? [] : [arrow])
  }

  /** Index of the last bar on the screen. */
  get lastSeen(): number {
    const to = this.#chart.timeScale().getVisibleRange()?.to
    return to === undefined ? this.#times.length - 1 : indexAtMost(this.#times, Number(to))
  }

  /** Whether a bar is on the screen. */
  isSeen(index: number): boolean {
    const range = this.#chart.timeScale().getVisibleRange()
    const time = at(this.#times[index])
    return !range || (time >= Number(range.from) && time <= Number(range.to))
  }

  toNewest(): void {
    this.#goal = undefined
    this.#chart.timeScale().resetTimeScale()
  }

  /** Shows a time in the middle. */
  toTime(time: number): void {
    this.#goTo({ time, before: middleBars, behind: middleBars })
  }

  /** The library scrolls one or two frames later; bars may be added in between. */
  #goTo(goal: Goal): void {
    this.#goal = goal
    const scale = this.#chart.timeScale()
    const index = scale.timeToIndex(at(goal.time), true)
    if (index !== null) scale.setVisibleLogicalRange({ from: index - goal.before, to: index + goal.behind })
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (this.#goal !== goal) return
        this.#goal = undefined
        this.#look()
      }),
    )
  }

  /** Asks for more bars if there are few beside those on the screen. */
  #look(): void {
    const range = this.#chart.timeScale().getVisibleLogicalRange()
    if (!range) return
    if (range.from < marginBars) this.#near.begin()
    if (range.to > this.#points - marginBars) this.#near.end()
  }

  /** What is on the screen; `undefined`: the newest bar, which the library keeps there. */
  get #seen(): Goal | undefined {
    const scale = this.#chart.timeScale()
    const [range, times] = [scale.getVisibleLogicalRange(), scale.getVisibleRange()]
    const index = times && scale.timeToIndex(times.from)
    if (!range || !times || index === null || this.lastSeen === this.#times.length - 1) return undefined
    return { time: Number(times.from), before: index - range.from, behind: range.to - index }
  }

  /** Marks a bar as the pointer does, and makes it visible. */
  mark(index: number, { close }: Bar): void {
    const time = at(this.#times[index])
    if (!this.isSeen(index)) this.toTime(time)
    this.#chart.setCrosshairPosition(close, time, this.#prices)
  }

  unmark(): void {
    this.#chart.clearCrosshairPosition()
  }

  remove(): void {
    this.#goal = undefined
    this.#chart.remove()
  }
}

const at = (time: number | undefined): UTCTimestamp => time as UTCTimestamp
