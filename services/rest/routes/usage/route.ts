import { dateText, daySeconds } from '../../../core/clocks/calendar.ts'
import { toSeconds } from '../../../core/clocks/feed-clock.ts'
import { noCounters } from '../../../core/keys/usage.ts'
import type { RestDeps } from '../../deps.ts'
import type { Route } from '../../route.ts'
import { createUsageReader } from './read-usage.ts'
import { usageSchema } from './schema.ts'

type UsageDeps = Pick<RestDeps, 'limits' | 'usageDays' | 'slots' | 'clock'>

export function createUsageRoute(deps: UsageDeps): Route<typeof usageSchema.query> {
  const { slots, clock } = deps
  const readUsage = createUsageReader(deps)
  return {
    schema: usageSchema,
    async handle({ days }, { key }) {
      const now = toSeconds(clock.utcMs())
      const dates = Array.from({ length: days }, (_, i) => dateText(now - (days - 1 - i) * daySeconds))
      const today = dateText(now)
      const [byDay, inUse] = await Promise.all([readUsage(key.id, dates), slots.inUse(key.id)])
      return {
        api_key: key.prefix,
        tier: key.plan,
        limits: {
          rpm: key.limits.rpm,
          rpd: key.limits.rpd,
          ws_connections: key.limits.wsConnections,
          ws_symbols: key.limits.wsSymbols,
        },
        current: { ws_connections_in_use: inUse },
        today: { ...noCounters, ...byDay.get(today) },
        history: dates.map((date) => ({ date, ...noCounters, ...byDay.get(date) })),
      }
    },
  }
}
