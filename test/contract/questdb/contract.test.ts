import type { QuestdbStores } from '../../../services/stores/questdb/open.ts'
import { createVirtualClock, type VirtualClock } from '../../support/fixtures/virtual-clock.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openOn } from '../../support/questdb/stores.ts'
import { describeBarStore } from '../suites/bars.ts'
import { describeFairReads } from '../suites/fair-reads.ts'
import type { Opened } from '../suites/opened.ts'
import { describeRegistryStore } from '../suites/registry.ts'
import { describeUsageDays } from '../suites/usage-days.ts'
import { describeWindowStore } from '../suites/windows.ts'

const server = oneServer()
let openings = 0

async function openPrefix(
  prefix: string,
  clock: VirtualClock,
): Promise<Opened<Exclude<keyof QuestdbStores, 'close'>>> {
  const { stores } = await openOn(server(), { prefix })
  return {
    stores,
    clock,
    close: () => stores.close(),
    async reopen(how) {
      if (how === 'killed') {
        await server().kill()
        await server().start()
      }
      await stores.close()
      return openPrefix(prefix, clock)
    },
  }
}

/** All tests share one server; each uses separate tables. */
const open = (start?: number) =>
  openPrefix(`t${++openings}_`, createVirtualClock(start === undefined ? {} : { start }))

const name = 'QuestDB'
describeBarStore(name, open)
describeWindowStore(name, open)
describeFairReads(name, open)
describeRegistryStore(name, open)
describeUsageDays(name, open)
