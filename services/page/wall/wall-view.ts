import type { Range } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { askPatiently } from '../asking.ts'
import { copyButtons } from '../copy-buttons.ts'
import { byId, element, say } from '../elements.ts'
import { addressOf } from '../texts/address.ts'
import { coveragePrograms, historyPrograms, type Programs } from '../texts/copies.ts'
import { numberText, timeOf, timeText } from '../texts/words.ts'
import { answeredMinutes, dayOf, minutesOfDay, missingMinutes } from './answered.ts'
import { type Cell, type Wall, WallCanvas, type WallRow } from './wall-canvas.ts'

const day = 86_400
const spans = [30, 90, 365]
const shownGaps = 20
/** Width of what is around the picture. */
const frameWidth = 64

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
    element('p', {}, 'For which days a terminal answered. A quiet night or a weekend is no gap.'),
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
  const link = element('a', { hidden: true }, 'Open this time in the chart')
  let programs: Programs = coveragePrograms
  let wall: Wall = { rows: [], firstDay: 0, days: 0 }

  const canvas = new WallCanvas(
    (cell) => {
      const text = cellText(wall, cell)
      const { symbol, from, to } = text
      say(detail, text.words)
      programs = historyPrograms(symbol, '1', from, to)
      link.href = addressOf('chart', symbol, '1', timeText(from).replace(' ', 'T'))
      link.hidden = false
    },
    () => byId('main').clientWidth - frameWidth,
  )
  const draw = (): void => {
    const last = timeOf(until.value) ?? today(app, coverage, feed.value)
    until.value = timeText(last, true)
    wall = makeWall(coverage, { feed: feed.value, last, days: Number(span.value), search: filter.value })
    say(
      summary,
      `${numberText(wall.rows.length)} symbols, ${wall.days} days on the clock of the feed. A day that has not ended is shown in part.`,
    )
    say(detail, 'Choose a cell to see its minutes.')
    link.hidden = true
    programs = coveragePrograms
    canvas.show(wall)
  }
  for (const each of [span, until]) each.addEventListener('change', draw)
  feed.addEventListener('change', () => {
    until.value = ''
    draw()
  })
  window.addEventListener('resize', () => canvas.draw(), { signal })
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
    element('div', { class: 'wall' }, canvas.element),
    summary,
    detail,
    link,
    copyButtons(app.origin, () => programs),
  ]
}

interface WallWanted {
  readonly feed: string
  /** Begin of the last day. */
  readonly last: number
  readonly days: number
  readonly search: string
}

function makeWall(coverage: Coverage, { feed, last, days, search }: WallWanted): Wall {
  const prefix = `${feed}:`
  const rows: WallRow[] = Object.entries(coverage)
    .filter(([symbol]) => symbol.startsWith(prefix) && symbol.toLowerCase().includes(search.toLowerCase()))
    .map(([symbol, ranges]) => ({ symbol, label: symbol.slice(prefix.length), ranges }))
    .toSorted((a, b) => (a.label < b.label ? -1 : 1))
  return { rows, firstDay: last - (days - 1) * day, days }
}

/** The present day on the clock of a feed; if that is unknown, the newest day with bars. */
function today({ status: { server_time: now, feeds } }: App, coverage: Coverage, feed: string): number {
  const offset = feeds[feed]?.clock_offset_seconds
  if (offset !== undefined) return dayOf(now - offset)
  const newest = Object.entries(coverage).map(([symbol, ranges]) =>
    symbol.startsWith(`${feed}:`) ? (ranges.at(-1)?.to ?? 0) : 0,
  )
  return dayOf(newest.reduce((time, each) => Math.max(time, each), 0))
}

function cellText({ rows, firstDay }: Wall, { row, day: column }: Cell) {
  const { symbol = '', ranges = [] } = rows[row] ?? {}
  const begin = firstDay + column * day
  const [answered = 0] = answeredMinutes(ranges, begin, 1)
  const missing = missingMinutes(ranges, begin)
  const clock = (time: number): string => timeText(time).slice(11)
  const listed = missing
    .slice(0, shownGaps)
    .map(({ from, to }) => (from === to ? clock(from) : `${clock(from)}–${clock(to)}`))
  const more = missing.length > shownGaps ? ` and ${missing.length - shownGaps} more` : ''
  const gaps = missing.length === 0 ? 'Nothing is missing.' : `Not answered: ${listed.join(', ')}${more}.`
  return {
    symbol,
    from: missing[0]?.from ?? begin,
    to: missing.at(-1)?.to ?? begin + day - 60,
    words: `${symbol}, ${timeText(begin, true)}: ${numberText(answered)} of ${numberText(minutesOfDay)} minutes were answered. ${gaps}`,
  }
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
        ['full', 'all minutes answered'],
        ['part', 'some minutes'],
        ['none', 'none'],
      ] as const
    ).map(([name, text]) => element('span', {}, element('span', { class: `swatch ${name}` }), text)),
  )
