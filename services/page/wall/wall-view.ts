import type { Range } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { askPatiently } from '../asking.ts'
import { copyButtons } from '../copy-buttons.ts'
import { element, say } from '../elements.ts'
import { addressOf } from '../texts/address.ts'
import { coveragePrograms, historyPrograms, type Programs } from '../texts/copies.ts'
import { numberText, timeOf, timeText } from '../texts/words.ts'
import { dayOf } from './answered.ts'
import { cellText } from './cell-text.ts'
import { type Cell, type Wall, WallCanvas, type WallRow } from './wall-canvas.ts'

const day = 86_400
const spans = [30, 90, 365]
const pointHint = 'Point at a cell to see its symbol and day. Choose it to see its minutes.'

type Coverage = Readonly<Record<string, readonly Range[]>>

/** Where data is missing: the symbols of one feed by days. */
export function openWall(app: App, [wanted = '']: readonly string[], signal: AbortSignal): HTMLElement {
  const note = element('p', { class: 'note', role: 'status' })
  const body = element('div', {})
  const fill = async (): Promise<void> => {
    say(note, 'Reading the coverage of all symbols…')
    const coverage = await askPatiently(() => app.fxd.coverage(), {
      signal,
      note: (text) => say(note, text),
      refused: (error) => app.refused(error),
    })
    if (coverage) body.replaceChildren(...wallOf(app, coverage, wanted, signal))
  }
  void fill()
  return element(
    'section',
    {},
    element('h1', {}, 'Wall of gaps'),
    element(
      'p',
      {},
      'For which days the terminal, which is the program of the broker, answered. A quiet night or a weekend is no gap. Only closed minutes count.',
    ),
    note,
    body,
  )
}

function wallOf(app: App, coverage: Coverage, wanted: string, signal: AbortSignal): HTMLElement[] {
  const feeds = Object.keys(app.status.feeds).toSorted()
  if (feeds.length === 0) return [element('p', {}, 'This key has no feed. Ask for access to one.')]
  const feed = select('feed', feeds, feeds.includes(wanted) ? wanted : (feeds[0] ?? ''))
  const span = select('days', spans.map(String), '90')
  const until = element('input', { id: 'until', type: 'date' })
  const filter = element('input', {
    id: 'filter',
    type: 'search',
    placeholder: 'All symbols',
    autocomplete: 'off',
  })
  const detail = element('p', { class: 'detail', role: 'status' })
  const summary = element('p', { class: 'soft' })
  const pointed = element('p', { class: 'soft' }, pointHint)
  const link = element('a', { hidden: true }, 'Open this time in the chart')
  let programs: Programs = coveragePrograms
  let wall: Wall = { rows: [], firstDay: 0, days: 0, now: 0 }

  const canvas = new WallCanvas({
    pointed: (cell) => say(pointed, cell ? nameOf(wall, cell) : pointHint),
    chosen: (cell) => {
      const { symbol = '', ranges = [] } = wall.rows[cell.row] ?? {}
      const { words, from, to } = cellText(ranges, wall.firstDay + cell.day * day, wall.now)
      say(detail, `${nameOf(wall, cell)}: ${words}`)
      programs = historyPrograms(symbol, '1', from, to)
      link.href = addressOf('chart', symbol, '1', timeText(from).replace(' ', 'T'))
      link.hidden = false
    },
  })
  const draw = (): void => {
    const now = presentOf(app, coverage, feed.value)
    const today = dayOf(now)
    const last = Math.min(timeOf(until.value) ?? today, today)
    until.value = timeText(last, true)
    until.max = timeText(today, true)
    const firstDay = last - (Number(span.value) - 1) * day
    wall = { rows: rowsOf(coverage, feed.value, filter.value), firstDay, days: Number(span.value), now }
    say(summary, `${numberText(wall.rows.length)} symbols, ${wall.days} days on the clock of the feed.`)
    say(detail, '')
    link.hidden = true
    programs = coveragePrograms
    canvas.show(wall)
  }
  for (const each of [span, until]) each.addEventListener('change', draw)
  feed.addEventListener('change', () => {
    until.value = ''
    draw()
  })
  filter.addEventListener('input', draw)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => canvas.draw(), { signal })
  draw()
  return [
    element(
      'div',
      { class: 'bar' },
      element('div', { class: 'field' }, element('label', { for: 'feed' }, 'Feed'), feed),
      element('div', { class: 'field' }, element('label', { for: 'days' }, 'Days'), span),
      element('div', { class: 'field' }, element('label', { for: 'until' }, 'Until'), until),
      element('div', { class: 'field' }, element('label', { for: 'filter' }, 'Symbols'), filter),
    ),
    legend(),
    pointed,
    canvas.element,
    summary,
    detail,
    link,
    copyButtons(app.origin, () => programs),
  ]
}

const nameOf = ({ rows, firstDay }: Wall, cell: Cell): string =>
  `${rows[cell.row]?.symbol}, ${timeText(firstDay + cell.day * day, true)}`

/** The symbols of a feed whose names have the text that a person looks for. */
function rowsOf(coverage: Coverage, feed: string, search: string): WallRow[] {
  const prefix = `${feed}:`
  return Object.entries(coverage)
    .filter(([symbol]) => symbol.startsWith(prefix) && symbol.toLowerCase().includes(search.toLowerCase()))
    .map(([symbol, ranges]) => ({ symbol, label: symbol.slice(prefix.length), ranges }))
    .toSorted((a, b) => (a.label < b.label ? -1 : 1))
}

/** The present time on the clock of a feed; if that is unknown, the time of its newest bar. */
function presentOf({ status: { server_time: now, feeds } }: App, coverage: Coverage, feed: string): number {
  const offset = feeds[feed]?.clock_offset_seconds
  if (offset !== undefined) return now - offset
  const newest = Object.entries(coverage).map(([symbol, ranges]) =>
    symbol.startsWith(`${feed}:`) ? (ranges.at(-1)?.to ?? 0) : 0,
  )
  return newest.reduce((time, each) => Math.max(time, each), 0)
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
        ['full', 'all minutes were answered'],
        ['part', 'some minutes are missing'],
        ['none', 'nothing was collected for this day'],
        ['open', 'not known yet: the day has not ended, or no bar came since'],
      ] as const
    ).map(([name, text]) => element('span', {}, element('span', { class: `swatch ${name}` }), text)),
  )
