import { Type } from 'typebox'
import type { RouteSchema } from '../../route.ts'
import { choice, closed, count, feedTime, resolution, symbolParam, text } from '../../schemas.ts'

const countbackMax = 10_000

const time = (description: string) => Type.Optional(Type.Integer({ 'x-signed': true, description }))

const query = Type.Object({
  symbol: symbolParam({ 'x-missing': 'symbol not found' }),
  resolution,
  from: time("Range start, Unix epoch seconds on the feed's clock, inclusive."),
  to: time("Range end, Unix epoch seconds on the feed's clock, inclusive."),
  countback: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: countbackMax,
      description: 'Number of newest bars up to `to` (default: now). `from` is ignored.',
    }),
  ),
})

const prices = (description: string) => Type.Array(Type.Number(), { description })
const bars = closed({
  s: choice('', 'ok'),
  t: Type.Array(feedTime('Open time.'), { description: 'Aligned with the other arrays, oldest first.' }),
  o: prices('Open.'),
  h: prices('High.'),
  l: prices('Low.'),
  c: prices('Close.'),
  v: Type.Array(count('Tick volume.')),
  meta: closed({ symbol: text('Compound key.'), resolution, bar_count: Type.Integer({ minimum: 1 }) }),
})

export const historySchema: RouteSchema<typeof query> = {
  endpoint: 'history',
  summary: 'Bars of one symbol, by range or by count',
  query,
  answer: Type.Union([bars, closed({ s: choice('No bars; not an error.', 'no_data') })]),
  failures: ['SYMBOL_NOT_PERMITTED', 'INVALID_PARAMS'],
}
