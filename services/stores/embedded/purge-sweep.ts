import type { Log } from '../../platform/log/log.ts'
import { type FileWriter, rowsPerTurn } from './threads/file-writer.ts'

export interface PurgeSweep {
  /** Begins a sweep; call it when there may be rows to free. */
  wake(): void
  /** Stops after the turn under way; the next start continues. */
  stop(): void
}

/**
 * Frees the rows of purged feeds, after all other writes, one turn at a time. A purge itself hides a feed's bars at
 * once.
 */
export function startPurgeSweep(queue: FileWriter, log: Log): PurgeSweep {
  let sweeping = false
  let woken = false
  let stopped = false
  const sweep = async (): Promise<void> => {
    woken = false
    while (!stopped && (await queue.call('sweep', rowsPerTurn, 'backfill')));
  }
  const wake = (): void => {
    woken = true
    if (sweeping || stopped) return
    sweeping = true
    sweep()
      .catch((cause: unknown) =>
        log.warn(
          { err: cause },
          'failed to free the rows of a purged feed; retrying at the next purge or start',
        ),
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
