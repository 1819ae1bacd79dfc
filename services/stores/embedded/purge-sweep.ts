import type { Log } from '../../platform/log/log.ts'
import { type FileWriter, rowsPerTurn } from './threads/file-writer.ts'

export interface PurgeSweep {
  /** There may be something to free. */
  wake(): void
  /** Stops after the turn under way; the next start goes on. */
  stop(): void
}

/** A purge hides a feed's bars at once; this frees their rows behind all other writes, one turn at a time. */
export function startPurgeSweep(queue: FileWriter, log: Log): PurgeSweep {
  let sweeping = false
  let woken = false
  let stopped = false
  const sweep = async (): Promise<void> => {
    woken = false
    while (!stopped && (await queue.call('sweep', rowsPerTurn, { lane: 'backfill', weight: rowsPerTurn })));
  }
  const wake = (): void => {
    woken = true
    if (sweeping || stopped) return
    sweeping = true
    sweep()
      .catch((cause: unknown) =>
        log.warn({ err: cause }, 'a purged feed is freed later, at the next purge or start'),
      )
      .finally(() => {
        sweeping = false
        if (woken) wake()
      })
  }
  wake()
  return {
    wake,
    stop() {
      stopped = true
    },
  }
}
