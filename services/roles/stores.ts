import { Unavailable } from '../core/failure.ts'
import { Fatal } from '../platform/exit.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { Stores } from '../ports/stores.ts'
import { openEmbeddedStores } from '../stores/embedded/open.ts'
import { prepareQuestdbStores } from '../stores/questdb/open.ts'
import { WrongServer } from '../stores/questdb/server/wrong-server.ts'
import type { House } from './house.ts'
import { questdbAt } from './questdb-at.ts'

export interface OpenedStores {
  readonly stores: Stores
  /** Whether they may be away while this process lives. */
  readonly areRemote: boolean
  /** Makes them ready for use. Rejects with `Unavailable`, which is worth another try, or `Fatal`. */
  readonly connect: () => Promise<void>
}

/**
 * The stores of `fxd all`: everything in the data folder, or with FXD_STORE=questdb bars, windows and
 * registry in QuestDB. Rejects with `Fatal` when the folder cannot be used; asks no server yet.
 */
export async function openStores(house: House): Promise<OpenedStores> {
  const { config, log, metrics } = house
  const embedded = await openFolder(house)
  if (config.store === 'embedded')
    return { stores: embedded, areRemote: false, connect: () => Promise.resolve() }
  // Real time whatever clock the house runs on: the server answers in real time.
  const { stores: questdb, connect } = await prepareQuestdbStores({
    ...questdbAt(config),
    clock: systemClock,
    log,
    metrics,
  })
  const { bars, windows, registry, usageDays } = questdb
  return {
    stores: {
      ...embedded,
      bars,
      windows,
      registry,
      usageDays,
      async close() {
        await Promise.all([questdb.close(), embedded.close()])
      },
    },
    areRemote: true,
    connect: () => connect().catch(asStartFailure),
  }
}

function asStartFailure(cause: unknown): never {
  if (cause instanceof WrongServer) throw new Fatal('config', cause.message, cause)
  throw cause instanceof Unavailable ? cause : new Unavailable('store', cause)
}

async function openFolder({ config, clock, log, metrics }: House): Promise<Stores> {
  const folder = config.dataDir
  try {
    return await openEmbeddedStores({ folder, clock, log, metrics })
  } catch (cause) {
    const reason = (cause as Error).message
    const message = reason.includes(folder)
      ? reason
      : `The data folder ${folder} (FXD_DATA_DIR) cannot be used: ${reason}`
    throw new Fatal('system', message, cause)
  }
}
