import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '../../../services/platform/log/log.ts'
import type { Stores } from '../../../services/ports/stores.ts'
import { openEmbeddedStores } from '../../../services/stores/embedded/open.ts'
import { createVirtualClock, type VirtualClock } from '../../support/fixtures/virtual-clock.ts'
import { describeBarStore } from '../suites/bars.ts'
import { describeBus } from '../suites/bus.ts'
import { describeFairReads } from '../suites/fair-reads.ts'
import { describeFeedBoard } from '../suites/feed-board.ts'
import { describeLeases } from '../suites/lease.ts'
import { describeLimits } from '../suites/limits.ts'
import type { Opened } from '../suites/opened.ts'
import { describeRegistryStore } from '../suites/registry.ts'
import { describeSlots } from '../suites/slots.ts'
import { describeUsageDays } from '../suites/usage-days.ts'
import { describeWindowStore } from '../suites/windows.ts'

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'fxd-contract-'))

async function openFolder(folder: string, clock: VirtualClock): Promise<Opened<keyof Stores>> {
  const stores = await openEmbeddedStores({ folder, clock, log: silentLog })
  const close = async (): Promise<void> => {
    await stores.close()
    rmSync(folder, { recursive: true })
  }
  return {
    stores,
    clock,
    close,
    async reopen(how) {
      if (how === 'closed') {
        await stores.close()
        return openFolder(folder, clock)
      }
      // After this answer all earlier writes have reached the file. A kill would leave the file and its log as
      // they are now.
      await stores.bars.ping()
      const killed = newFolder()
      for (const name of ['fxd.db', 'fxd.db-wal']) cpSync(join(folder, name), join(killed, name))
      await close()
      return openFolder(killed, clock)
    },
  }
}

const open = (start?: number): Promise<Opened<keyof Stores>> =>
  openFolder(newFolder(), createVirtualClock(start === undefined ? {} : { start }))

const name = 'the embedded store'
describeBarStore(name, open)
describeWindowStore(name, open)
describeFairReads(name, open)
describeRegistryStore(name, open)
describeLimits(name, open)
describeUsageDays(name, open)
describeSlots(name, open)
describeLeases(name, open)
describeFeedBoard(name, open)
describeBus(name, open)
