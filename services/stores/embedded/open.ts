import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Unavailable } from '../../core/failure.ts'
import { lockFolder } from '../../platform/files/lock-folder.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Stores } from '../../ports/stores.ts'
import { embeddedBars } from './bars.ts'
import { embeddedBus } from './bus.ts'
import { embeddedFeedBoard } from './feed-board.ts'
import { embeddedLeases } from './leases.ts'
import { embeddedLimits } from './limits.ts'
import { firstDayInMemory } from './memory/daily-usage.ts'
import { startMemory } from './memory/memory.ts'
import { startPurgeSweep } from './purge-sweep.ts'
import { embeddedRegistry } from './registry.ts'
import { embeddedSlots } from './slots.ts'
import { measureThreads } from './threads/measure.ts'
import { startThreads } from './threads/start.ts'
import { embeddedUsageDays } from './usage-days.ts'
import { embeddedWindows } from './windows.ts'

interface EmbeddedDeps {
  /** Created with access for this user only when it does not exist. */
  readonly folder: string
  readonly clock: Clock
  readonly log: Log
  readonly metrics?: Metrics
}

/**
 * Opens every store in one process and one folder. Rejects when the folder is in use, cannot be written, or contains a
 * file of another schema version; the message names the folder or file, and nothing stays open.
 */
export async function openEmbeddedStores({ folder, clock, log, metrics }: EmbeddedDeps): Promise<Stores> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = makeFile(folder, 'fxd.db')
  const unlock = lockFolder(makeFile(folder, 'lock.db'), folder)
  const threads = await startThreads(path, log).catch((cause: unknown) => {
    unlock()
    throw cause
  })
  const { writerThread, writer, readers } = threads
  const close = async (): Promise<void> => {
    await threads.close()
    unlock()
  }
  const begin = writerThread.call('begin', { firstDay: firstDayInMemory(clock) })
  const { opening, rows } = await begin.catch(async (cause: Unavailable) => {
    await close()
    throw new Error(`${path}: ${(cause.cause as Error).message}`, { cause })
  })
  if (metrics) measureThreads(threads, metrics)
  const memory = startMemory(rows, writer, clock, log)
  const sweep = startPurgeSweep(writer, log)
  return {
    bars: embeddedBars(writer, readers, sweep),
    windows: embeddedWindows(writer, readers),
    registry: embeddedRegistry(writer, readers),
    limits: embeddedLimits(memory, readers, clock),
    usageDays: embeddedUsageDays(writer, readers),
    slots: embeddedSlots(memory.usage, clock),
    bus: embeddedBus(clock, log),
    leases: embeddedLeases(opening, clock),
    board: embeddedFeedBoard(memory.liveness),
    async close() {
      sweep.stop()
      await memory.close()
      await writer.drain()
      await close()
    },
  }
}

/** Creates the file before SQLite opens it, which would let other users read it. SQLite's companion files copy its mode. */
function makeFile(folder: string, name: string): string {
  const path = join(folder, name)
  closeSync(openSync(path, 'a', 0o600))
  return path
}
