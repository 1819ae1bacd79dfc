import { auditFeed, type Disagreement, type StoredSeries } from '../core/bars/audit.ts'
import type { Window } from '../core/bars/window.ts'
import { dateText, daySeconds } from '../core/clocks/calendar.ts'
import { feedNow, feedSeconds, type UtcMs } from '../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { SymbolRecord } from '../core/feeds/symbol.ts'
import { type Finding, passed, problem, warning } from './finding.ts'

export interface FeedStored {
  readonly feed: FeedDefinition
  /** Measured or fixed; `undefined`: unknown. */
  readonly offsetSeconds: number | undefined
  readonly symbols: readonly SymbolRecord[]
  readonly windows: readonly Window[]
  readonly stored: readonly StoredSeries[]
}

/** Compares acknowledged windows with stored bars; one finding per feed and kind of disagreement. */
export function examineAudit(of: FeedStored, now: UtcMs): readonly Finding[] {
  const { feed, offsetSeconds, symbols, windows, stored } = of
  const since = new Map(
    symbols.flatMap(({ symbol, since: at }) => (at === undefined ? [] : [[symbol, at] as const])),
  )
  const newest = Math.max(0, ...stored.map(({ days }) => days.at(-1)?.day ?? 0)) * daySeconds
  const feedTime = feedNow(now, offsetSeconds, feedSeconds(newest)) ?? feedSeconds(newest)
  const disagreements = auditFeed({ windows, stored, since, now: feedTime })
  if (disagreements.length > 0) return disagreements.map((each) => findingOf(each, feed))
  const days = stored.flatMap((series) => series.days)
  const bars = days.reduce((sum, day) => sum + day.bars, 0)
  return [
    passed(
      'audit',
      `${feed.key}: windows and bars agree on ${days.length} days of ${stored.length} series, ${bars} bars`,
    ),
  ]
}

function findingOf(
  { kind, resolution, count, missing, symbols, first, last }: Disagreement,
  { key }: FeedDefinition,
): Finding {
  const at = ({ symbol, day }: Disagreement['first']): string => `${symbol} on ${dateText(day * daySeconds)}`
  const where = count === 1 ? at(first) : `from ${at(first)} to ${at(last)}`
  const days = `${count} ${count === 1 ? 'day' : 'days'} of ${symbols} ${symbols === 1 ? 'symbol' : 'symbols'}`
  const about = `${key} at resolution ${resolution}: ${days}`
  const again = 'import these days again (fxd import), or restore a backup'
  switch (kind) {
    case 'empty':
      return problem(
        'audit',
        `${about} acknowledged as complete without a bar, although other resolutions have bars (${where})`,
        again,
      )
    case 'thin':
      return warning(
        'audit',
        `${about} acknowledged as complete with at least ${missing} bars fewer than other resolutions require (${where})`,
        again,
      )
    case 'unclaimed':
      return warning(
        'audit',
        `${about} with bars outside all acknowledged windows, so coverage does not show them (${where})`,
        'start the collector again: it reads what no window covers; or import these days',
      )
  }
}
