import { afterAll, beforeAll } from 'vitest'
import { silentLog } from '../../services/platform/log.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { openQuestdbStores, type QuestdbStores } from '../../services/stores/questdb/open.ts'
import { type QuestdbServer, startQuestdb } from '../support/questdb/server.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'
import { describeBarStore } from './bars.ts'
import type { Opened } from './opened.ts'
import { describeRegistryStore } from './registry.ts'
import { describeWindowStore } from './windows.ts'

let server: QuestdbServer | undefined
let openings = 0

beforeAll(async () => {
  server = await startQuestdb()
})
afterAll(() => server?.stop())

const running = (): QuestdbServer => {
  if (server === undefined) throw new Error('QuestDB runs inside of tests only.')
  return server
}

async function openPrefix(
  prefix: string,
  clock: VirtualClock,
): Promise<Opened<Exclude<keyof QuestdbStores, 'close'>>> {
  const { http, pg } = running()
  const stores = await openQuestdbStores({
    http,
    pg,
    credentials: { user: 'admin', password: 'quest' },
    prefix,
    clock: systemClock,
    log: silentLog,
    metrics: createMetrics({ ofProcess: false }),
  })
  return {
    stores,
    clock,
    close: () => stores.close(),
    async reopen(how) {
      if (how === 'killed') {
        await running().kill()
        await running().start()
      }
      await stores.close()
      return openPrefix(prefix, clock)
    },
  }
}

/** All share one server; tables of their own keep them apart. */
const open = (start?: number) =>
  openPrefix(`t${++openings}_`, createVirtualClock(start === undefined ? {} : { start }))

const name = 'QuestDB'
describeBarStore(name, open)
describeWindowStore(name, open)
describeRegistryStore(name, open)
