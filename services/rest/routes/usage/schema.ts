import { Type } from 'typebox'
import { plans } from '../../../core/keys/plan.ts'
import { counterNames } from '../../../core/keys/usage.ts'
import type { RouteSchema } from '../../route.ts'
import { choice, closed, count, text } from '../../schemas.ts'

const daysDefault = 7
const daysMax = 90

const query = Type.Object({
  days: Type.Integer({
    minimum: 1,
    default: daysDefault,
    'x-clamp-above': daysMax,
    description: `Days of history, today included; more than ${daysMax} is answered as ${daysMax}.`,
  }),
})

const meanings: Readonly<Record<(typeof counterNames)[number], string>> = {
  requests: 'All REST requests that were admitted.',
  history: 'Calls of /v1/history.',
  symbols: 'Calls of /v1/symbols.',
  coverage: 'Calls of /v1/coverage.',
  status: 'Calls of /v1/status.',
  config: 'Calls of /v1/config with the key.',
  usage: 'Calls of /v1/usage.',
  ws_connect: 'WebSocket connections opened.',
  ws_session: 'WebSocket sessions open at some time of the day.',
  rate_limited: 'Requests and upgrades refused for a limit.',
}
const counters = Object.fromEntries(counterNames.map((name) => [name, count(meanings[name])]))

export const usageSchema: RouteSchema<typeof query> = {
  endpoint: 'usage',
  summary: 'The limits and the usage of the key',
  query,
  answer: closed({
    api_key: text('Prefix of the key.'),
    tier: choice('', ...plans),
    limits: closed({
      rpm: count('Requests per minute.'),
      rpd: count('Requests per day.'),
      ws_connections: count('Simultaneous WebSocket connections.'),
      ws_symbols: count('Subscriptions per WebSocket connection.'),
    }),
    current: closed({ ws_connections_in_use: count('WebSocket connections open now.') }),
    today: closed(counters),
    history: Type.Array(
      closed({ date: Type.String({ pattern: String.raw`^\d{4}-\d{2}-\d{2}$` }), ...counters }),
      { description: 'Oldest first, the last is today.' },
    ),
  }),
  failures: ['INVALID_PARAMS'],
}
