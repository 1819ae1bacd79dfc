import type { App } from '../app.ts'
import { askingIn, askPatiently } from '../asking.ts'
import { resolutions } from '../chart/resolutions.ts'
import { copyButtons } from '../copy-buttons.ts'
import { element, say } from '../elements.ts'
import { addressOf } from '../texts/address.ts'
import { historyPrograms, type Programs, wallPrograms } from '../texts/copies.ts'
import { countText, timeOf, timeText } from '../texts/words.ts'
import { dayOf } from './answered.ts'
import { cellText } from './cell-text.ts'
import { type FeedCoverage, feedCoverages } from './feed-coverage.ts'
import { type Cell, touchQuery, type Wall, WallCanvas, type WallRow } from './wall-canvas.ts'

const day = 86_400
const spans = [30, 90, 365]
const isTouched = (): boolean => matchMedia(touchQuery).matches

/** Where data is missing: the symbols of one feed by days. `#gaps/BROKER:ACCOUNT/90/2026-11-29`: days, and the last. */
export function openWall(app: App, words: readonly string[], signal: AbortSignal): HTMLElement {
  const [wanted = '', days = '', end = ''] = words
  const note = element('p', { class: 'note', role: 'status' })
  const body = element('div', {})
  const feeds = Object.keys(app.status.feeds).toSorted()
  const feed = select('feed', feeds, feeds.includes(wanted) ? wanted : (feeds[0] ?? ''))
  const span = select(
    'days',
    spans.map(String),
    spans.includes(Number(days)) ? days : isTouched() ? '30' : '90',
  )
  const until = element('input', { id: 'until', type: 'date' })
  const filter = element('input', {
    id: 'filter',
    type: 'search',
    placeholder: 'All symbols',
    autocomplete: 'off',
  })
  const last = timeOf(end)
  if (last !== undefined) until.value = timeText(last, true)
  let unknown = feeds.includes(wanted) ? '' : wanted
  const coverageOf = feedCoverages(app)
  const fill = async (): Promise<void> => {
    const shown = feed.value
    say(note, 'Reading the coverage of all symbols…')
    const coverage = await askPatiently(() => coverageOf(shown), askingIn(note, app, signal))
    if (!coverage || shown !== feed.value) return
    if (unknown !== '') say(note, `Your key has no feed ${unknown}. This is ${shown}.`)
    body.replaceChildren(...wallOf(app, coverage, { feed: shown, span, until, filter, signal }))
  }
  feed.addEventListener('change', () => {
    until.value = unknown = ''
    history.replaceState(null, '', addressOf('gaps', feed.value, span.value))
    body.replaceChildren()
    void fill()
  })
  if (feeds.length > 0) void fill()
  else say(note, 'This key has no feed. Ask for access to one.')
  return element(
    'section',
    {},
    element('h1', {}, 'Wall of gaps'),
    element(
      'p',
      {},
      'For which minutes the terminal, which is the program of the broker, answered. A quiet night or a weekend is no gap.',
    ),
    element(
      'div',
      { class: 'bar' },
      element('div', { class: 'field' }, element('label', { for: 'feed' }, 'Feed'), feed),
      element('div', { class: 'field' }, element('label', { for: 'days' }, 'Days'), span),
      element('div', { class: 'field' }, element('label', { for: 'until' }, 'Until'), until),
      element('div', { class: 'field' }, element('label', { for: 'filter' }, 'Symbols'), filter),
    ),
    note,
    body,
  )
}

interface Choice {
  readonly feed: string
  readonly span: HTMLSelectElement
  readonly until: HTMLInputElement
  readonly filter: HTMLInputElement
  readonly signal: AbortSignal
}

function wallOf(app: App, coverage: FeedCoverage, choice: Choice): HTMLElement[] {
  const { feed, span, until, filter, signal } = choice
  const { resolution } = coverage
  const hint = `${isTouched() ? 'Touch' : 'Point at'} a cell to see its symbol and day. Choose it to see its minutes.`
  const detail = element('p', { class: 'detail', role: 'status' })
  const summary = element('p', { class: 'soft', role: 'status' })
  const pointed = element('p', { class: 'soft' }, hint)
  const link = element('a', { hidden: true }, 'Open this time in the chart')
  let wall: Wall = { rows: [], firstDay: 0, days: 0, now: 0 }
  const ofWall = (): Programs => wallPrograms(feed, resolution, wall)
  let programs = ofWall

  const canvas = new WallCanvas({
    pointed: (cell) => say(pointed, cell ? nameOf(wall, cell) : hint),
    chosen: (cell) => {
      const { symbol = '', ranges = [] } = wall.rows[cell.row] ?? {}
      const { words, from, to } = cellText(ranges, wall.firstDay + cell.day * day, wall.now)
      say(pointed, nameOf(wall, cell))
      say(detail, `${nameOf(wall, cell)}: ${words}`)
      programs = () => historyPrograms(symbol, resolution, from, to)
      link.href = addressOf('chart', symbol, resolution, timeText(from).replace(' ', 'T'))
      link.hidden = false
    },
  })
  const draw = (): void => {
    const now = presentOf(app, coverage, feed)
    const today = dayOf(now)
    const last = Math.min(timeOf(until.value) ?? today, today)
    until.value = timeText(last, true)
    until.max = timeText(today, true)
    const days = Number(span.value)
    wall = { rows: rowsOf(coverage, filter.value), firstDay: last - (days - 1) * day, days, now }
    say(detail, '')
    link.hidden = true
    programs = ofWall
    canvas.show(wall)
    const symbols = wall.rows.length === 0 ? 'No symbol has this name' : countText(wall.rows.length, 'symbol')
    const scroll = canvas.isWide ? ' Scroll sideways to see all days.' : ''
    say(summary, `${symbols}, ${days} days on the clock of the feed.${scroll}`)
  }
  const renew = (): void => {
    draw()
    const end = until.value === until.max ? [] : [until.value]
    history.replaceState(null, '', addressOf('gaps', feed, span.value, ...end))
  }
  span.onchange = until.onchange = renew
  filter.oninput = draw
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => canvas.draw(), { signal })
  // The box has no width before it is in the page.
  queueMicrotask(draw)
  const { words = '' } = resolutions.find(({ value }) => value === resolution) ?? {}
  return [
    ...(resolution === '1'
      ? []
      : [element('p', {}, `This feed has no bars of 1 minute. The wall counts its bars of ${words}.`)]),
    legend(),
    pointed,
    canvas.element,
    summary,
    detail,
    link,
    copyButtons(app.origin, () => programs()),
  ]
}

const nameOf = ({ rows, firstDay }: Wall, cell: Cell): string =>
  `${rows[cell.row]?.symbol}, ${timeText(firstDay + cell.day * day, true)}`

/** The symbols whose names have the text that a person looks for. */
function rowsOf({ ranges }: FeedCoverage, search: string): WallRow[] {
  return Object.entries(ranges)
    .map(([symbol, each]) => ({ symbol, label: symbol.split(':').slice(2).join(':'), ranges: each }))
    .filter(({ label }) => label.toLowerCase().includes(search.trim().toLowerCase()))
    .toSorted((a, b) => (a.label < b.label ? -1 : 1))
}

/** The present time on the clock of a feed; if that is unknown, the time of its newest bar. */
function presentOf(
  { status: { server_time: now, feeds } }: App,
  { ranges }: FeedCoverage,
  feed: string,
): number {
  const offset = feeds[feed]?.clock_offset_seconds
  if (offset !== undefined) return now - offset
  return Math.max(0, ...Object.values(ranges).map((each) => each.at(-1)?.to ?? 0))
}

function select(id: string, values: readonly string[], value: string): HTMLSelectElement {
  const made = element('select', { id }, ...values.map((each) => element('option', { value: each }, each)))
  made.value = value
  return made
}

const legend = (): HTMLElement =>
  element(
    'p',
    { class: 'soft key-of-colors' },
    ...(
      [
        ['full', 'the terminal answered for every minute of this day'],
        ['part', 'minutes are missing'],
        ['none', 'no minute of this day was answered yet'],
        ['open', 'not known yet: the next bar decides'],
      ] as const
    ).map(([name, text]) => element('span', {}, element('span', { class: `swatch ${name}` }), text)),
  )
