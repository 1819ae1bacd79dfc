import { auditFeed, type Disagreement, type HeldSeries } from '../core/audit.ts'
import { dateText, daySeconds } from '../core/calendar.ts'
import type { FeedDefinition } from '../core/feed.ts'
import { feedNow, feedSeconds, fixedOffset, type UtcMs } from '../core/feed-clock.ts'
import type { SymbolRecord } from '../core/symbol.ts'
import type { Window } from '../core/window.ts'
import { type Finding, fine, warning, wrong } from './finding.ts'

/** All that is stored of one feed. */
export interface FeedHeld {
  readonly feed: FeedDefinition
  readonly symbols: readonly SymbolRecord[]
  readonly windows: readonly Window[]
  readonly held: readonly HeldSeries[]
}

/** Whether what was acknowledged as complete and what is stored agree; a line per feed and disagreement. */
export function examineAudit({ feed, symbols, windows, held }: FeedHeld, now: UtcMs): readonly Finding[] {
  const since = new Map(
    symbols.flatMap(({ symbol, since: at }) => (at === undefined ? [] : [[symbol, at] as const])),
  )
  const newest = Math.max(0, ...held.map(({ days }) => days.at(-1) ?? 0)) * daySeconds
  const feedTime = feedNow(now, fixedOffset(feed.clock), feedSeconds(newest)) ?? feedSeconds(newest)
  const disagreements = auditFeed({ windows, held, since, now: feedTime })
  if (disagreements.length > 0) return disagreements.map((each) => told(each, feed))
  const days = held.reduce((sum, series) => sum + series.days.length, 0)
  return [fine('audit', `${feed.key}: windows and bars agree on ${days} days of ${held.length} series`)]
}

function told(
  { kind, resolution, count, symbols, first, last }: Disagreement,
  { key }: FeedDefinition,
): Finding {
  const at = ({ symbol, day }: Disagreement['first']): string => `${symbol} on ${dateText(day * daySeconds)}`
  const where = count === 1 ? at(first) : `from ${at(first)} to ${at(last)}`
  const days = `${count} ${count === 1 ? 'day' : 'days'} of ${symbols} ${symbols === 1 ? 'symbol' : 'symbols'}`
  return kind === 'empty'
    ? wrong(
        'audit',
        `${key} at ${resolution}: ${days} acknowledged as complete without a bar, though other resolutions have some (${where})`,
        'import these days again (fxd import), or restore a backup',
      )
    : warning(
        'audit',
        `${key} at ${resolution}: ${days} with bars that no acknowledged window claims, so coverage does not show them (${where})`,
        'start the collector again: it reads what no window covers; or import these days',
      )
}
