import { watch } from 'node:fs'
import type { Log } from '../../../platform/log/log.ts'
import type { Clock } from '../../../ports/clock.ts'
import { warnOfFile } from './file-fault.ts'

/** Scan interval. Notifications of the system are faster, but not available everywhere and not complete. */
const lookEveryMs = 1_000

interface Watching {
  readonly path: string
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  /** Scans the folder for changes; never runs twice at once. */
  readonly look: () => Promise<void>
  /** Scans the file of this name at once; returns whether it is known. */
  readonly changed: (name: string) => boolean
}

/** Scans the folder every second, and when the system reports a change. */
export function watchFolder({ path, clock, log, signal, look, changed }: Watching): void {
  let looking = false
  let again = false
  /** Logged once when it begins, and once when it ends. */
  let isLost = false
  const start = (): void => {
    if (signal.aborted) return
    again = looking
    if (looking) return
    looking = true
    look()
      .then(
        () => {
          if (isLost) log.info({ path }, 'the folder can be read again')
          isLost = false
        },
        (cause: unknown) => {
          if (!isLost) warnOfFile(log, path, cause, 'retrying')
          isLost = true
        },
      )
      .finally(() => {
        looking = false
        if (again) start()
      })
  }
  const stop = clock.every(lookEveryMs, start)
  signal.addEventListener('abort', stop)
  try {
    watch(path, { persistent: false, signal }, (_, name) => {
      if (name === null || !changed(name)) start()
    }).on('error', (cause) =>
      log.warn({ err: cause, path }, 'file notifications unavailable; changes are noticed within a second'),
    )
  } catch (cause) {
    log.warn({ err: cause, path }, 'file notifications unavailable; changes are noticed within a second')
  }
}
