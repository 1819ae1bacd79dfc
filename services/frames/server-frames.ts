import { type TSchema, Type } from 'typebox'
import { oneOf } from './one-of.ts'

/** Objects are closed: a field without a schema is a defect. */
const closed = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })
const integer = (description: string) => Type.Integer({ description })
const names = (description: string) => Type.Array(Type.String(), { description })

const feedTime = (description: string) => integer(`${description} Epoch seconds on the feed's clock.`)
const utcTime = (description: string) => integer(`${description} Epoch seconds, UTC.`)

const last = Type.Optional(
  Type.Literal(true, {
    description: 'Set on the last frame of an answer about whole feeds. Each frame has at most 5,000 names.',
  }),
)

const connected = closed({
  type: Type.Literal('connected'),
  session_id: Type.String({ description: 'Id of this connection; quote the id when you report a fault.' }),
  server_time: utcTime('Time of the server.'),
  limits: closed({
    max_symbols: integer('Maximum subscribed symbols of this connection.'),
    idle_timeout_seconds: integer(
      'After this time without a message, ping or pong frame the server closes with 4000.',
    ),
    max_message_bytes: integer('Maximum bytes of a client message; a longer one is closed with 1009.'),
  }),
})

const subscribed = closed({
  type: Type.Literal('subscribed'),
  symbols: names('Accepted, in the order of the request.'),
  rejected: names('Unknown, not granted, or beyond the limit of symbols.'),
  since: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: feedTime('Only bars that open after this time follow.'),
        description: 'Answers `since`: by symbol, the time after which bars follow.',
      },
    ),
  ),
  rejected_feeds: Type.Optional(names('Feeds of the request that are unknown or not granted.')),
  reason: Type.Optional(
    oneOf(
      ['joined'],
      'Absent in an answer to a request. Else a symbol is new in a whole feed, or found a place.',
    ),
  ),
  last,
})

const unsubscribed = closed({
  type: Type.Literal('unsubscribed'),
  symbols: names('No more bars of these symbols follow.'),
  reason: Type.Optional(
    oneOf(['SYMBOL_NOT_PERMITTED'], 'Absent in an answer to a request. Else the grant was withdrawn.'),
  ),
  last,
})

const bar = closed({
  type: Type.Literal('bar'),
  symbol: Type.String({ description: 'Compound key.' }),
  bar: closed({
    time: feedTime('Open time of the closed minute.'),
    open: Type.Number(),
    high: Type.Number(),
    low: Type.Number(),
    close: Type.Number(),
    volume: integer('Tick volume.'),
  }),
})

/** Name, open, high, low, close and volume of one bar. */
const row = Type.Unsafe<readonly [string, number, number, number, number, number]>({
  type: 'array',
  prefixItems: [
    { type: 'string', description: 'Name of the symbol: its compound key without the feed.' },
    { type: 'number', description: 'Open.' },
    { type: 'number', description: 'High.' },
    { type: 'number', description: 'Low.' },
    { type: 'number', description: 'Close.' },
    { type: 'integer', description: 'Tick volume.' },
  ],
  minItems: 6,
  items: false,
})

const bars = closed({
  type: Type.Literal('bars'),
  feed: Type.String({ description: 'BROKER:ACCOUNT' }),
  time: feedTime('Open time of the closed minute of all rows.'),
  bars: Type.Array(row, { maxItems: 1_000, description: 'One row for each symbol.' }),
})

const pong = closed({ type: Type.Literal('pong'), t: utcTime('Time of the server.') })

const minute = closed({
  type: Type.Literal('minute'),
  feed: Type.String({ description: 'BROKER:ACCOUNT' }),
  time: feedTime('Open time of the minute; all its bars were sent, except those of delayed symbols.'),
})

const feed = closed({
  type: Type.Literal('feed'),
  feed: Type.String({ description: 'BROKER:ACCOUNT' }),
  status: oneOf(['live', 'stale', 'offline'], 'As in /v1/status.'),
  changed_at: utcTime('When this server first saw this status.'),
  liveness_source: oneOf(['heartbeat', 'candle', 'none'], 'What status was derived from.'),
})

const revised = closed({
  type: Type.Literal('revised'),
  symbol: Type.String({ description: 'Compound key.' }),
  resolution: Type.String({ description: 'Resolution of the bars that history shows differently.' }),
  from: feedTime('Open time of the first bar that may differ.'),
  to: feedTime('Open time of the last bar that may differ.'),
})

const error = closed({
  type: Type.Literal('error'),
  code: oneOf(
    ['BAD_MESSAGE', 'UNSUPPORTED_TYPE', 'KEY_INVALID', 'KEY_INACTIVE', 'KEY_EXPIRED', 'IP_NOT_ALLOWED'],
    'BAD_MESSAGE and UNSUPPORTED_TYPE answer a message; the connection stays. The others precede a close.',
  ),
  message: Type.String({ description: 'What was wrong, the value that was sent, and a valid form.' }),
})

const gap = closed({
  type: Type.Literal('error'),
  code: Type.Literal('GAP'),
  message: Type.String(),
  gaps: Type.Array(
    closed({
      symbol: Type.String({ description: 'Compound key.' }),
      after: Type.Optional(feedTime('Bars that open after this time may be missing; absent: any bar.')),
      until: Type.Optional(
        feedTime('Bars that open after this time are delivered; absent: bars may be missing until now.'),
      ),
    }),
  ),
})

/** The schemas of server messages, by their names in /asyncapi.json. */
export const serverFrames = {
  connected,
  subscribed,
  unsubscribed,
  bar,
  bars,
  pong,
  minute,
  feed,
  revised,
  error,
  gap,
} as const
