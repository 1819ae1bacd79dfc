import { onTestFinished } from 'vitest'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics, type Metrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { prepareQuestdbStores, type QuestdbStores } from '../../../services/stores/questdb/open.ts'
import type { Credentials } from '../../../services/stores/questdb/options.ts'
import type { StoreUser } from '../../../services/stores/questdb/pg/connection-counts.ts'
import { connected } from '../connected.ts'
import type { QuestdbServer } from './server.ts'

export interface OpenedQuestdb {
  readonly stores: QuestdbStores
  readonly metrics: Metrics
  readonly prefix: string
  /** The value of a metric without labels. */
  metric(name: string): Promise<number>
}

export interface OpenOptions {
  readonly prefix?: string
  readonly credentials?: Credentials
  readonly user?: StoreUser
}

let prefixes = 0

/** Opens stores with separate tables, unless a prefix is given. */
export async function openOn(
  server: Pick<QuestdbServer, 'http' | 'pg'>,
  {
    prefix = `p${++prefixes}_`,
    credentials = { user: 'admin', password: 'quest' },
    user = 'all',
  }: OpenOptions = {},
): Promise<OpenedQuestdb> {
  const metrics = createMetrics({ ofProcess: false })
  const stores = await connected(
    await prepareQuestdbStores({
      http: server.http,
      pg: server.pg,
      credentials,
      user,
      prefix,
      clock: systemClock,
      log: silentLog,
      metrics,
    }),
  )
  return {
    stores,
    metrics,
    prefix,
    async metric(name) {
      const { text } = await metrics.render()
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
    },
  }
}

/** Opens stores that close when the test ends. */
export async function openInTest(...given: Parameters<typeof openOn>): Promise<OpenedQuestdb> {
  const opened = await openOn(...given)
  onTestFinished(() => opened.stores.close())
  return opened
}
