import { Type } from 'typebox'
import type { RouteSchema } from '../../route.ts'
import { choice, closed, count, feedTime, text } from '../../schemas.ts'

const query = Type.Object({})

const feed = closed({
  status: choice('Below 5 minutes live, to 30 stale, above offline.', 'live', 'stale', 'offline'),
  last_candle_time: Type.Optional(feedTime('Open time of the newest bar received.')),
  last_candle_age_seconds: Type.Optional(count('Seconds since the last bar was received.')),
  last_heartbeat_age_seconds: Type.Optional(count('Seconds since the feed last delivered data.')),
  liveness_source: choice('What status was derived from.', 'heartbeat', 'candle', 'none'),
  clock_offset_seconds: Type.Optional(
    Type.Integer({ description: 'real_utc = feed time + clock_offset_seconds; absent: unknown, not 0.' }),
  ),
  clock_offset_age_seconds: Type.Optional(count('How long ago the offset was measured.')),
  symbol_count: count('Active symbols.'),
  clock_note: Type.Optional(text('On feeds whose clock is far from UTC.')),
})

export const statusSchema: RouteSchema<typeof query> = {
  endpoint: 'status',
  summary: 'The health of the platform and of the feeds that the key may use',
  query,
  answer: closed({
    status: choice('', 'ok', 'degraded'),
    server_time: Type.Integer({ description: 'Unix epoch seconds, real UTC.' }),
    feeds: Type.Record(Type.String(), feed),
  }),
  failures: [],
}
