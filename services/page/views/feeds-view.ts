import type { FeedStatus, Status, SymbolInfo } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { askingIn, askPatiently } from '../asking.ts'
import { copyButtons } from '../copy-buttons.ts'
import { type Child, element, say, showTable, table } from '../elements.ts'
import { addressOf } from '../texts/address.ts'
import { statusPrograms } from '../texts/copies.ts'
import { countText, numberText, offsetText, spanText, timeText } from '../texts/words.ts'

const head = [
  'Feed',
  'State',
  'Newest bar (UTC)',
  'Newest bar (feed clock)',
  'Last bar received (UTC)',
  'Clock',
  'Symbols',
]
const statesText =
  'Live: the collector reported in the last 5 minutes; its market may be closed. Stale: in the last 30 minutes. Offline: not since.'
const meanings = [
  'A feed is one account of one broker; each has its own clock. Choose one to see its symbols.',
  statesText,
  'Only closed minutes are shown. “Last bar received” is when it came; its minute may be long past.',
]
const states = { live: '● Live', stale: '◐ Stale', offline: '○ Offline' } as const

/** The feeds of the key, renewed with each status. `#feeds/BROKER:ACCOUNT` lists the symbols of one. */
export function openFeeds(app: App, [chosen = '']: readonly string[], signal: AbortSignal): HTMLElement {
  const place = element('div', { class: 'feeds' })
  const platform = element('p', { role: 'status' })
  const notes = element('div', {})
  const draw = ({ status, server_time: now, feeds }: Status): void => {
    const sorted = Object.entries(feeds).toSorted(([a], [b]) => (a < b ? -1 : 1))
    say(
      platform,
      `${
        status === 'ok'
          ? 'The service is well'
          : 'The service is degraded (a store is unavailable, or a feed is offline)'
      } as of ${timeText(now)} UTC. The page asks again each minute.`,
    )
    const rows = sorted.map(([feed, each]) => rowOf(feed, each, now))
    if (rows.length > 0) showTable(place, table('Feeds of this key', head, rows))
    else say(place, 'This key has no feed. Ask for access to one.')
    notes.replaceChildren(
      ...sorted.flatMap(([feed, { clock_note: note }]) =>
        note === undefined ? [] : [element('p', { class: 'soft' }, `${feed}: ${note}`)],
      ),
    )
  }
  draw(app.status)
  app.onStatus(draw, signal)
  return element(
    'section',
    {},
    element('h1', {}, 'Feeds'),
    ...(chosen === '' ? [] : [symbolList(app, chosen, signal)]),
    platform,
    place,
    notes,
    ...meanings.map((text) => element('p', { class: 'soft' }, text)),
    copyButtons(app.origin, () => statusPrograms),
  )
}

function rowOf(feed: string, status: FeedStatus, now: number): Child[] {
  const { clock_offset_seconds: offset, clock_offset_age_seconds: age } = status
  const { last_candle_time: newest, last_candle_age_seconds: silence } = status
  const knownBy = age === undefined ? 'fixed' : `measured ${spanText(age)} ago`
  return [
    element('a', { href: addressOf('feeds', feed) }, feed),
    element('span', { class: status.status, title: statesText }, states[status.status]),
    newest === undefined || offset === undefined ? '–' : timeText(newest + offset),
    newest === undefined ? 'none yet' : timeText(newest),
    silence === undefined ? '–' : timeText(now - silence),
    offset === undefined ? offsetText(offset) : `${offsetText(offset)}, ${knownBy}`,
    numberText(status.symbol_count),
  ]
}

/** Links to the charts of a feed's symbols. */
function symbolList(app: App, feed: string, signal: AbortSignal): HTMLElement {
  const note = element('p', { class: 'note', role: 'status' })
  const title = element('h2', {}, `Symbols of ${feed}`)
  const list = element('ul', { class: 'symbols' })
  const read = async (): Promise<SymbolInfo[]> => {
    const found: SymbolInfo[] = []
    for await (const each of app.fxd.symbols()) if (each.feed === feed) found.push(each)
    return found
  }
  const fill = async (): Promise<void> => {
    const symbols = await askPatiently(read, askingIn(note, app, signal))
    if (!symbols) return
    say(title, `${countText(symbols.length, 'symbol')} of ${feed}`)
    list.replaceChildren(
      ...symbols.map(({ symbol, display_symbol: name }) =>
        element('li', {}, element('a', { href: addressOf('chart', symbol, '1') }, name)),
      ),
    )
  }
  void fill()
  window.scrollTo(0, 0)
  return element(
    'section',
    { class: 'panel' },
    title,
    note,
    list,
    element('p', {}, element('a', { href: addressOf('gaps', feed) }, `Gaps of ${feed}`)),
  )
}
