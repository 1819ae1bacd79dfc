import { Type } from 'typebox'
import type { RouteSchema } from '../../route.ts'
import { choice, closed, flag, resolution, text } from '../../schemas.ts'

const query = Type.Object({})

export const configSchema: RouteSchema<typeof query> = {
  endpoint: 'config',
  summary: 'The configuration object of a charting library',
  query,
  answer: closed({
    supported_resolutions: Type.Array(resolution),
    supports_group_request: flag('Always false.'),
    supports_marks: flag('Always false.'),
    supports_search: flag('Search is via /v1/symbols.'),
    supports_timescale_marks: flag('Always false.'),
    exchanges: Type.Array(
      closed({ value: text('The broker part of compound keys.'), name: Type.String(), desc: Type.String() }),
    ),
    symbols_types: Type.Array(
      closed({ name: Type.String(), value: choice('', 'forex', 'stock', 'crypto', 'index', 'cfd') }),
    ),
  }),
  failures: [],
}
