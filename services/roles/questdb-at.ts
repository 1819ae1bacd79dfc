import type { Config } from '../platform/config.ts'
import type { QuestdbOptions } from '../stores/questdb/options.ts'

/** Where the QuestDB of this configuration is. */
export const questdbAt = (
  config: Config,
): Pick<QuestdbOptions, 'http' | 'pg' | 'credentials' | 'prefix'> => ({
  http: config.questdbHttp,
  pg: config.questdbPg,
  credentials: { user: config.questdbUser, password: config.questdbPassword },
  prefix: config.questdbPrefix,
})
