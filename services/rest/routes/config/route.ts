import type { OpenRoute } from '../../route.ts'
import { configView } from '../../symbol-view.ts'
import { configSchema } from './schema.ts'

export const configRoute: OpenRoute<typeof configSchema.query> = {
  schema: configSchema,
  handle: (_, { view }) => configView(view.feeds()),
}
