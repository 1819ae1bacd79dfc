import type { Log } from '../../platform/log/log.ts'
import { SharedRun } from '../../platform/serial.ts'
import { type FileWriter, rowsPerTurn } from './threads/file-writer.ts'

export interface PurgeSweep {
  /** Begins a sweep; call it when there may be rows to free. */
  wake(): void
  /** Stops after the turn under way; the next start continues. */
  stop(): void
}

/** Frees the rows of purged feeds, after all other writes, one turn at a time. A purge itself hides a feed's bars at once. */
export function startPurgeSweep(writer: FileWriter, log: Log): PurgeSweep {
  let stopped = false
  const sweeps = new SharedRun(async () => {
    while (!stopped && (await writer.call('sweep', rowsPerTurn, 'backfill')));
  })
  const wake = (): void => {
    if (stopped) return
    sweeps
      .run()
      .catch((cause: unknown) =>
        log.warn(
          { err: cause },
          'failed to free the rows of a purged feed; retrying at the next purge or start',
        ),
      )
  }
  wake()
  return {
    wake,
    stop() {
      stopped = true
    },
  }
}
