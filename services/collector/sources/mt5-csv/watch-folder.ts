import { watch } from 'node:fs'
import type { Log } from '../../../platform/log/log.ts'
import { OutageLog } from '../../../platform/outage-log.ts'
import { SharedRun } from '../../../platform/serial.ts'
import type { Clock } from '../../../ports/clock.ts'
import { failureOf } from './file-fault.ts'

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
  const outage = new OutageLog({ log, clock, about: { file: path } })
  const looks = new SharedRun(async () => {
    if (signal.aborted) return
    try {
      await look()
      outage.worked('the folder can be read again')
    } catch (cause) {
      outage.failed({ text: 'failed to read the folder; retrying', ...failureOf(path, cause) })
    }
  })
  const start = (): void => void looks.run()
  const stop = clock.every(lookEveryMs, start)
  signal.addEventListener('abort', stop)
  const failed = (cause: unknown): void =>
    log.warn({ err: cause, path }, 'file notifications unavailable; changes are noticed within a second')
  try {
    watch(path, { persistent: false, signal }, (_, name) => {
      if (name === null || !changed(name)) start()
    }).on('error', failed)
  } catch (cause) {
    failed(cause)
  }
}
