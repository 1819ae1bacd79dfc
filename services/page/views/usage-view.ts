import { sleep } from '../../../clients/typescript/src/pause.ts'
import type { Counters, Usage } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { askingIn, askPatiently } from '../asking.ts'
import { copyButtons } from '../copy-buttons.ts'
import { element, showTable, table } from '../elements.ts'
import { usagePrograms } from '../texts/copies.ts'
import { numberText } from '../texts/words.ts'

const days = 30
const everyMs = 5 * 60_000

const columns: readonly (readonly [keyof Counters, string])[] = [
  ['requests', 'Requests in all'],
  ['history', 'Requests for history'],
  ['symbols', 'Requests for symbols'],
  ['coverage', 'Requests for coverage'],
  ['status', 'Requests for status'],
  ['config', 'Requests for config'],
  ['usage', 'Requests for usage'],
  ['ws_connect', 'Connections opened'],
  ['ws_session', 'Connections open at some time'],
  ['rate_limited', 'Refused by a limit'],
]

/** The limits and counters of this key. */
export function openUsage(app: App, _words: readonly string[], signal: AbortSignal): HTMLElement {
  const note = element('p', { class: 'note', role: 'status' })
  const summary = element('div', {})
  const byDay = element('div', { class: 'counts' })
  const fill = async (): Promise<void> => {
    while (!signal.aborted) {
      const usage = await askPatiently(() => app.fxd.usage(days), askingIn(note, app, signal))
      if (!usage) return
      summary.replaceChildren(...summaryOf(usage))
      showTable(byDay, daysOf(usage))
      await sleep(everyMs, signal)
    }
  }
  void fill()
  return element(
    'section',
    {},
    element('h1', {}, 'Usage of this key'),
    note,
    summary,
    byDay,
    copyButtons(app.origin, () => usagePrograms(days)),
  )
}

const summaryOf = ({ api_key: prefix, tier, limits, current, today, history }: Usage): HTMLElement[] => [
  element('p', {}, `Key ${prefix}…, plan ${tier}. Days are those of UTC.`),
  element(
    'div',
    { class: 'cards' },
    limitCard('Requests today', today.requests, limits.rpd),
    limitCard('WebSocket connections open now', current.ws_connections_in_use, limits.ws_connections),
    card('Requests a minute, at most', numberText(limits.rpm)),
    card('Symbols of one connection, at most', numberText(limits.ws_symbols)),
  ),
  element('h2', {}, `The last ${history.length} days`),
  element('p', { class: 'soft' }, 'Days without use are left out.'),
]

function daysOf({ history }: Usage): HTMLElement {
  const rows = history
    .filter((each, i) => i === history.length - 1 || columns.some(([name]) => each[name] > 0))
    .toReversed()
    .map((each) => [each.date, ...columns.map(([name]) => numberText(each[name]))])
  return table('Use by day', ['Day', ...columns.map(([, name]) => name)], rows)
}

const card = (name: string, value: string, ...more: HTMLElement[]): HTMLElement =>
  element(
    'div',
    { class: 'card' },
    element('span', { class: 'soft' }, name),
    element('strong', {}, value),
    ...more,
  )

const limitCard = (name: string, used: number, limit: number): HTMLElement =>
  card(
    name,
    `${numberText(used)} of ${numberText(limit)}`,
    element('meter', {
      'aria-label': name,
      min: 0,
      max: limit,
      high: limit * 0.8,
      value: Math.min(used, limit),
    }),
  )
