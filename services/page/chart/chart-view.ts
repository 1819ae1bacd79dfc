import type { Resolution, SymbolDetails, SymbolInfo } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { type Asking, askPatiently } from '../asking.ts'
import { copyButtons } from '../copy-buttons.ts'
import { element, say } from '../elements.ts'
import { addressOf } from '../texts/address.ts'
import { historyPrograms } from '../texts/copies.ts'
import { numberText, timeOf, timeText } from '../texts/words.ts'
import { ChartPane } from './chart-pane.ts'
import { clockBox, jumpBox, resolutionButtons, utcHelp } from './controls.ts'
import { type SymbolList, symbolBox } from './symbol-box.ts'

const listMax = 1_000

/** A chart on the page, with its controls. */
interface Drawn {
  readonly details: SymbolDetails
  readonly resolution: Resolution
  readonly elements: readonly HTMLElement[]
  readonly end: AbortController
  /** Shows the newest bars, or those around a time. */
  open(time: number | undefined): void
  tell(): void
}

/** Address of the chart that each key showed last. */
const lastShown = new WeakMap<App, string>()
let present: ChartView | undefined

/** The chart of one symbol: `#chart/BROKER:ACCOUNT:NAME/60`, with `/2026-11-29T12:00` at a time on the clock of the feed. */
export function openChart(app: App, words: readonly string[], signal: AbortSignal): HTMLElement {
  if (present?.app !== app) present = new ChartView(app)
  present.show(words, signal)
  return present.element
}

const show = (symbol: string, resolution: string): void => {
  location.hash = addressOf('chart', symbol, resolution)
}
const addressAt = (symbol: string, resolution: string, time: number | undefined): string =>
  addressOf('chart', symbol, resolution, ...(time === undefined ? [] : [timeText(time).replace(' ', 'T')]))

/** Stays while charts change: the chart of before is shown until the bars of the next one are there. */
class ChartView {
  readonly app: App
  readonly element: HTMLElement
  readonly #heading = element('h1', { class: 'hidden' })
  readonly #note = element('p', { class: 'line', role: 'status' })
  readonly #body = element('div', {})
  readonly #box: ReturnType<typeof symbolBox>
  #signal = AbortSignal.abort()
  #resolution = '1'
  #drawn: Drawn | undefined
  /** The chart that was asked for last: only its texts are shown. */
  #wanted: Drawn | undefined
  #trouble = ''
  #hint = ''

  constructor(app: App) {
    this.app = app
    this.#box = symbolBox(app, {
      chosen: (symbol) => show(symbol, this.#resolution),
      say: (text) => this.#say({ hint: text }),
    })
    this.element = element(
      'section',
      { class: 'chart-view' },
      this.#heading,
      element('div', { class: 'bar' }, this.#box.element),
      this.#note,
      this.#body,
    )
  }

  show([symbol = '', resolution = '1', time = '']: readonly string[], signal: AbortSignal): void {
    this.#signal = signal
    // Another chart comes at once, or the view ends.
    signal.addEventListener('abort', () => queueMicrotask(() => this.#signal === signal && this.#close()))
    this.#resolution = resolution
    this.#wanted = undefined
    say(this.#heading, `Chart ${symbol}`)
    this.#box.input.value = symbol
    this.#say({ trouble: '', hint: '' })
    if (symbol === '') void this.#choose(signal)
    else void this.#open(symbol, resolution as Resolution, timeOf(time), signal)
  }

  #close(): void {
    this.#drawn?.end.abort()
    this.#drawn = undefined
    if (present === this) present = undefined
  }

  /** One text at a time: trouble comes first. */
  #say({ trouble = this.#trouble, hint = this.#hint }): void {
    this.#trouble = trouble
    this.#hint = hint
    this.#note.classList.toggle('note', trouble !== '')
    say(this.#note, trouble || hint)
    this.#drawn?.tell()
  }

  #asking(signal: AbortSignal): Asking {
    return {
      signal,
      note: (trouble) => this.#say({ trouble }),
      refused: (error) => this.app.refused(error),
    }
  }

  /** Shows the chart of before, or that of a symbol whose feed is live. */
  async #choose(signal: AbortSignal): Promise<void> {
    const { app } = this
    const before = lastShown.get(app)
    if (before !== undefined) return location.replace(before)
    const ask = () => app.rest.get<SymbolList>('symbols', { limit: listMax })
    const found = await askPatiently(ask, this.#asking(signal))
    const isLive = ({ feed }: SymbolInfo): boolean => app.status.feeds[feed]?.status === 'live'
    const first = found?.symbols.find(isLive) ?? found?.symbols[0]
    // A person who types has chosen already.
    if (this.#box.input.value !== '') return
    if (first) location.replace(addressOf('chart', first.symbol, '1'))
    else if (found) this.#say({ hint: 'This key has no symbol. Ask for access to a feed.' })
  }

  async #open(
    symbol: string,
    resolution: Resolution,
    time: number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const drawn = this.#drawn
    const known = drawn?.details.symbol === symbol ? drawn.details : undefined
    const details = known ?? (await askPatiently(() => this.app.fxd.symbol(symbol), this.#asking(signal)))
    if (signal.aborted) return
    if (!details) return this.#clear()
    const { supported_resolutions: supported } = details
    const [first] = supported
    if (!supported.includes(resolution)) {
      // Replaced, or the button to go back would lead here again.
      if (first) return location.replace(addressAt(symbol, first, time))
      this.#clear()
      return this.#say({ hint: 'This symbol has no bars yet.' })
    }
    lastShown.set(this.app, addressAt(symbol, resolution, time))
    if (known && drawn?.resolution === resolution) {
      this.#wanted = drawn
      return drawn.open(time)
    }
    const next = this.#make(details, resolution)
    this.#wanted = next
    signal.addEventListener('abort', () => this.#drawn !== next && next.end.abort())
    if (!this.#drawn) this.#put(next)
    next.open(time)
  }

  #clear(): void {
    this.#drawn?.end.abort()
    this.#drawn = undefined
    this.#body.replaceChildren()
  }

  #put(next: Drawn): void {
    if (this.#drawn === next) return
    this.#drawn?.end.abort()
    this.#drawn = next
    // A person who has chosen a length of bars goes on from that button.
    const isChoosing = this.#body.querySelector('[aria-pressed]:focus') !== null
    this.#body.replaceChildren(...next.elements)
    if (isChoosing) this.#body.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus()
  }

  #make(details: SymbolDetails, resolution: Resolution): Drawn {
    const { app } = this
    const { symbol } = details
    const end = new AbortController()
    const state = element('p', { class: 'soft state' })
    const newest = element('button', { disabled: true }, 'Newest')
    const tell = (): void => {
      say(state, stateText(pane, this.#trouble === ''))
      newest.disabled = pane.isNewest
    }
    const pane = new ChartPane(app, details, resolution, {
      note: (trouble) => this.#wanted === drawn && this.#say({ trouble }),
      hint: (hint) => this.#wanted === drawn && this.#say({ hint }),
      ready: () => this.#put(drawn),
      changed: tell,
      signal: end.signal,
    })
    let opened: number | undefined
    const go = (time: number | undefined): void => {
      const address = addressAt(symbol, resolution, time)
      if (location.hash !== address) location.hash = address
      else if (time === undefined) pane.toNewest()
      else pane.open(time)
    }
    newest.addEventListener('click', () => go(undefined))
    const jump = jumpBox(pane, go)
    const clock = clockBox(app, pane, end.signal, () => {
      jump.show(opened)
      tell()
    })
    const programs = (): ReturnType<typeof historyPrograms> =>
      historyPrograms(symbol, resolution, pane.series.first?.time ?? 0, pane.series.last?.time ?? 0)
    const drawn: Drawn = {
      details,
      resolution,
      end,
      tell,
      open: (time) => {
        opened = time
        jump.show(time)
        pane.open(time)
      },
      elements: [
        element(
          'div',
          { class: 'bar' },
          resolutionButtons(details.supported_resolutions, resolution, (next) => show(symbol, next)),
          clock,
          jump.element,
          newest,
        ),
        element('p', { class: 'soft' }, details.description),
        pane.element,
        state,
        copyButtons(app.origin, programs),
        madeBy(),
      ],
    }
    return drawn
  }
}

const madeBy = (): HTMLElement =>
  element(
    'p',
    { class: 'soft' },
    'Drawn by ',
    element(
      'a',
      { href: 'https://www.tradingview.com/', rel: 'noreferrer' },
      'TradingView Lightweight Charts™',
    ),
    ', copyright TradingView, Inc.',
  )

/** What the chart shows. Whether new bars come is left out while the line above says why not. */
function stateText(pane: ChartPane, isWell: boolean): string {
  const { first, last, bars, isRunning } = pane.series
  const { gaps } = pane
  if (!first || !last) return 'This symbol has no bars of this length.'
  const parts = [
    `${numberText(bars.length)} bars from ${pane.timeText(first.time)} to ${pane.timeText(last.time)} (${pane.isUtc ? 'UTC' : 'clock of the feed'}).`,
  ]
  if (isRunning) parts.push('The last bar is not finished.')
  if (isWell) parts.push(pane.liveText)
  if (gaps > 0)
    parts.push(`Shaded: ${numberText(gaps)} ${gaps === 1 ? 'gap' : 'gaps'} that no terminal answered for.`)
  if (pane.isUtc) parts.push(utcHelp)
  return parts.join(' ')
}
