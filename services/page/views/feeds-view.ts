import type { FeedStatus, Status } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { copyButtons } from '../copy-buttons.ts'
import { type Child, element, say, showTable, table } from '../elements.ts'
import { addressOf } from '../texts/address.ts'
import { statusPrograms } from '../texts/copies.ts'
import { numberText, offsetText, spanText, timeText } from '../texts/words.ts'

const head = [
  'Feed',
  'State',
  'Newest bar opened (UTC)',
  'Newest bar opened (feed clock)',
  'Last bar received',
  'Clock',
  'Clock known by',
  'Symbols',
]
const meanings = [
  'A feed is one account of one broker; each has its own clock.',
  'Only closed minutes are shown. “Last bar received” is when it came; its minute may be long past.',
  'A clock is measured by the prices that come, or an operator has set it by hand.',
]
const states = { live: '● Live', stale: '◐ Stale', offline: '○ Offline' } as const

/** The feeds of the key, renewed with each status. */
export function openFeeds(app: App, _words: readonly string[], signal: AbortSignal): HTMLElement {
  const place = element('div', { class: 'feeds' })
  const platform = element('p', { role: 'status' })
  const draw = ({ status, server_time: now, feeds }: Status): void => {
    const rows = Object.entries(feeds)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([feed, each]) => rowOf(feed, each))
    say(
      platform,
      status === 'ok'
        ? `The service is well. Its time is ${timeText(now)} UTC.`
        : 'The service is degraded: a store is unavailable, or a feed is offline.',
    )
    if (rows.length > 0) showTable(place, table('Feeds of this key', head, rows))
    else say(place, 'This key has no feed. Ask for access to one.')
  }
  draw(app.status)
  app.onStatus(draw, signal)
  return element(
    'section',
    {},
    element('h1', {}, 'Feeds'),
    platform,
    place,
    ...meanings.map((text) => element('p', { class: 'soft' }, text)),
    copyButtons(app.origin, () => statusPrograms),
  )
}

function rowOf(feed: string, status: FeedStatus): Child[] {
  const { clock_offset_seconds: offset, clock_offset_age_seconds: age } = status
  const { last_candle_time: newest, last_candle_age_seconds: silence } = status
  const knownBy = age === undefined ? 'set by hand' : `measured ${spanText(age)} ago`
  return [
    element('a', { href: addressOf('gaps', feed) }, feed),
    element('span', { class: status.status }, states[status.status]),
    newest === undefined || offset === undefined ? '–' : timeText(newest + offset),
    newest === undefined ? 'none yet' : timeText(newest),
    silence === undefined ? '–' : `${spanText(silence)} ago`,
    offsetText(offset),
    offset === undefined ? '–' : knownBy,
    numberText(status.symbol_count),
  ]
}
