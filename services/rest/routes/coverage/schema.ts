import { Type } from 'typebox'
import { resolutions } from '../../../core/feeds/resolution.ts'
import type { RouteSchema } from '../../route.ts'
import { choice, closed, feedTime, symbolParam, text } from '../../schemas.ts'

const query = Type.Object({
  symbol: Type.Optional(symbolParam()),
  resolution: Type.Optional(
    choice(
      'Ranges of this resolution alone. Without it the finest one counts as far back as it reaches, and coarser ones before that.',
      ...resolutions,
    ),
  ),
})

const ranges = Type.Array(
  closed({
    from: feedTime("Open time of the first bar, Unix epoch seconds on the feed's clock."),
    to: feedTime('Open time of the last bar.'),
  }),
  { description: 'More than one range means gaps; an empty list means no data.' },
)

export const coverageSchema: RouteSchema<typeof query> = {
  endpoint: 'coverage',
  summary: 'Time ranges with bars, of one symbol or of all symbols that the key may use',
  query,
  answer: Type.Union([
    closed({ symbol: text('Compound key.'), coverage: ranges }),
    closed({ coverage: Type.Record(Type.String(), ranges) }),
  ]),
  failures: ['SYMBOL_NOT_PERMITTED', 'SYMBOL_NOT_FOUND', 'INVALID_PARAMS'],
}
