import type { Resolution, SymbolDetails, SymbolInfo } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { askPatiently } from '../asking.ts'
import { copyButtons } from '../copy-buttons.ts'
import { element, say } from '../elements.ts'
import { addressOf } from '../texts/address.ts'
import { historyPrograms } from '../texts/copies.ts'
import { numberText, timeOf, timeText } from '../texts/words.ts'
import { ChartPane, type ClockName } from './chart-pane.ts'
import { resolutions } from './resolutions.ts'
import { symbolBox } from './symbol-box.ts'

const listMax = 1_000

interface SymbolList {
  readonly symbols: readonly SymbolInfo[]
}

/** Kept while views change, as a person expects of a setting. */
let clock: ClockName = 'feed'
/** Address of the chart that each key showed last. */
const lastShown = new WeakMap<App, string>()
/** A person has just chosen a length of bars, and goes on from that button. */
let isChoosing = false

/** The chart of one symbol: `#chart/BROKER:ACCOUNT:NAME/60`, with `/2026-11-29T12:00` at a time. */
export function openChart(
  app: App,
  [symbol = '', resolution = '1', time = '']: readonly string[],
  signal: AbortSignal,
): HTMLElement {
  const note = element('p', { class: 'note', role: 'status' })
  const asking = {
    signal,
    note: (text: string) => say(note, text),
    refused: (error: Error) => app.refused(error),
  }
  const show = (nextSymbol: string, nextResolution: string): void => {
    location.hash = addressOf('chart', nextSymbol, nextResolution)
  }
  const body = element('div', {})
  const view = element(
    'section',
    { class: 'chart-view' },
    element('h1', { class: 'hidden' }, `Chart ${symbol}`),
    element(
      'div',
      { class: 'bar' },
      symbolBox(app, symbol, (chosen) => show(chosen, resolution)),
    ),
    note,
    body,
  )
  if (symbol === '') void choose()
  else void fill()
  return view

  /** Shows the chart of before, or that of a symbol whose feed is live. */
  async function choose(): Promise<void> {
    const before = lastShown.get(app)
    if (before !== undefined) return location.replace(before)
    const found = await askPatiently(() => app.rest.get<SymbolList>('symbols', { limit: listMax }), asking)
    const isLive = ({ feed }: SymbolInfo): boolean => app.status.feeds[feed]?.status === 'live'
    const first = found?.symbols.find(isLive) ?? found?.symbols[0]
    // A person who types has chosen already.
    if (view.querySelector('input')?.value !== '') return
    if (first) location.replace(addressOf('chart', first.symbol, '1'))
    else if (found) say(note, 'This key has no symbol. Ask for access to a feed.')
  }

  async function fill(): Promise<void> {
    const details = await askPatiently(() => app.fxd.symbol(symbol), asking)
    if (!details) return
    lastShown.set(app, addressOf('chart', symbol, resolution))
    const around = { note, signal, show, time: timeOf(time) }
    body.replaceChildren(...chartOf(app, details, resolution as Resolution, around))
    if (isChoosing) body.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus()
    isChoosing = false
  }
}

interface Around {
  readonly note: HTMLElement
  readonly signal: AbortSignal
  /** Where the chart opens; `undefined`: at the newest bar. */
  readonly time: number | undefined
  readonly show: (symbol: string, resolution: string) => void
}

function chartOf(
  app: App,
  details: SymbolDetails,
  resolution: Resolution,
  { note, signal, show, time }: Around,
): HTMLElement[] {
  const { symbol, supported_resolutions: supported } = details
  if (!supported.includes(resolution)) {
    const [first] = supported
    if (first) show(symbol, first)
    else say(note, 'This symbol has no bars yet.')
    return []
  }
  const state = element('p', { class: 'soft state' })
  const pane = new ChartPane(app, details, resolution, {
    note: (text) => say(note, text),
    changed: () => {
      say(state, stateText(pane))
      newest.hidden = pane.isLive
    },
    signal,
  })
  const newest = element('button', { hidden: true, click: () => pane.open() }, 'Newest')
  // A time of the address is on the clock of the feed.
  pane.open(time)
  pane.clock = clock

  const range = (): Parameters<typeof historyPrograms> => {
    const { first, last } = pane
    return [symbol, resolution, first?.time ?? 0, last?.time ?? 0]
  }
  return [
    element(
      'div',
      { class: 'bar' },
      resolutionButtons(supported, resolution, (next) => show(symbol, next)),
      clockBox(app, pane, signal),
      jumpBox(pane),
      newest,
    ),
    element('p', { class: 'soft' }, details.description),
    pane.element,
    state,
    copyButtons(app.origin, () => historyPrograms(...range())),
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
    ),
  ]
}

function stateText({ first, last, count, gaps, liveText }: ChartPane): string {
  if (!first || !last) return 'This symbol has no bars of this length.'
  const bars = `${numberText(count)} bars from ${timeText(first.time)} to ${timeText(last.time)} (clock of the feed)`
  const missing =
    gaps === 0
      ? ''
      : ` Shaded: ${numberText(gaps)} ${gaps === 1 ? 'gap' : 'gaps'} that no terminal answered for.`
  return `${bars}. ${liveText}${missing}`
}

function resolutionButtons(
  supported: readonly Resolution[],
  present: Resolution,
  chosen: (resolution: Resolution) => void,
): HTMLElement {
  return element(
    'div',
    { class: 'choices', role: 'group', 'aria-label': 'Length of a bar' },
    ...resolutions.map(({ value, label, words }) =>
      element(
        'button',
        {
          'aria-pressed': String(value === present),
          title: words,
          disabled: !supported.includes(value),
          click: () => {
            isChoosing = true
            chosen(value)
          },
        },
        label,
      ),
    ),
  )
}

function clockBox(app: App, pane: ChartPane, signal: AbortSignal): HTMLElement {
  const utc = element('option', { value: 'utc' }, 'UTC by today’s offset')
  const select = element('select', { id: 'clock' }, element('option', { value: 'feed' }, 'Feed'), utc)
  const show = (): void => {
    utc.disabled = !pane.hasUtc
    select.value = pane.hasUtc ? clock : 'feed'
  }
  show()
  app.onStatus(show, signal)
  select.addEventListener('change', () => {
    clock = select.value === 'utc' ? 'utc' : 'feed'
    pane.clock = clock
  })
  return element('div', { class: 'field' }, element('label', { for: 'clock' }, 'Clock'), select)
}

function jumpBox(pane: ChartPane): HTMLElement {
  const input = element('input', { id: 'jump', type: 'datetime-local' })
  const submit = (event: Event): void => {
    event.preventDefault()
    const time = timeOf(input.value)
    if (time !== undefined) pane.open(time)
  }
  return element(
    'form',
    { class: 'field', submit },
    element('label', { for: 'jump' }, 'Go to'),
    input,
    element('button', {}, 'Go'),
  )
}
