import { Type } from 'typebox'
import { sessions } from '../../../core/feeds/symbol.ts'
import type { RouteSchema } from '../../route.ts'
import { choice, closed, count, flag, resolution, symbolParam, symbolType, text } from '../../schemas.ts'

const searchLengthMax = 64
const limitDefault = 100
const limitMax = 1_000

const query = Type.Object({
  symbol: Type.Optional(symbolParam()),
  search: Type.Optional(
    Type.String({
      maxLength: searchLengthMax,
      description: 'Case-insensitive fragment of the display name.',
    }),
  ),
  limit: Type.Integer({
    minimum: 1,
    default: limitDefault,
    'x-clamp-above': limitMax,
    description: `Results to return; more than ${limitMax} is answered as ${limitMax}.`,
  }),
  offset: Type.Integer({ minimum: 0, default: 0, description: 'Results to skip.' }),
})

const head = { symbol: text('Compound key.') }
const common = {
  display_symbol: Type.String(),
  description: text('The instrument in words, and its feed.'),
  exchange: text('The value of a config exchange.'),
  type: symbolType,
  digits: count('Decimal places of the price.'),
  price_scale: Type.Integer({ minimum: 1, description: '10 to the power of digits.' }),
  feed: text('BROKER:ACCOUNT'),
}

const entry = closed({ ...head, ...common })
const list = closed({
  symbols: Type.Array(entry),
  total: count('Matching symbols, not only those of this page.'),
  limit: Type.Integer({ minimum: 1, maximum: limitMax }),
  offset: Type.Integer({ minimum: 0 }),
})
const detail = closed({
  ...head,
  full_name: text('Compound key.'),
  ...common,
  supported_resolutions: Type.Array(resolution),
  has_intraday: flag('Any resolution below a day.'),
  has_daily: flag('1D'),
  has_weekly_and_monthly: flag('1W and 1M'),
  session: choice('', ...sessions),
  timezone: text('Bar times are drawn as they are.'),
  data_status: choice('', 'streaming', 'endofday'),
  delay_seconds: count("How far the broker's quotes lag real time."),
})

export const symbolsSchema: RouteSchema<typeof query> = {
  endpoint: 'symbols',
  summary: 'The symbols that the key may use, or all of one',
  query,
  answer: Type.Union([list, detail]),
  failures: ['SYMBOL_NOT_PERMITTED', 'SYMBOL_NOT_FOUND', 'INVALID_PARAMS'],
}
