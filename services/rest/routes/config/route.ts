import { configView } from '../../../core/symbol-view.ts'
import type { OpenRoute } from '../../route.ts'
import { configSchema } from './schema.ts'

export const configRoute: OpenRoute<typeof configSchema.query> = {
  schema: configSchema,
  handle: (_, { view }) => configView(view.feeds()),
}
