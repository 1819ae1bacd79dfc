import { closeSync, open } from 'node:fs'
import type { Clock } from '../../ports/clock.ts'
import { LimitedLog } from '../log/limited-log.ts'
import type { Log } from '../log/log.ts'
import { fromZero, type Metrics } from '../metrics.ts'

const lookEveryMs = 1_000

const handleUsers = ['http', 'grpc', 'ops', 'terminals', 'look'] as const
type HandleUser = (typeof handleUsers)[number]

/** The soft limit of open handles (`ulimit -n`); Infinity: there is none, or the system does not report it. */
export function handleLimit(): number {
  // Looking up the names of all peers would take too long.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

/** Opens a file once a second: a connection that finds no free handle is closed without an event. */
export class HandleWatch {
  readonly #log: LimitedLog
  readonly #shortages
  readonly #stopLooking: () => void

  constructor({ clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics }) {
    this.#log = new LimitedLog(log, clock)
    this.#shortages = fromZero(
      metrics.counter(
        'fxd_handle_shortages_total',
        'Failed accepts, and failed checks (one per second), because no file handle was free (EMFILE). All ports then close new connections.',
        ['where'],
      ),
      'where',
      handleUsers,
    )
    this.#stopLooking = clock.every(lookEveryMs, () => this.#look())
  }

  /** Called when a port could not accept a connection. */
  failed(where: HandleUser, cause: Error): void {
    this.#shortages.inc({ where })
    this.#log.write(
      'error',
      { err: cause, where },
      'file handles unavailable; new connections are closed; raise the limit (ulimit -n)',
    )
  }

  close(): void {
    this.#stopLooking()
  }

  #look(): void {
    open(process.execPath, (error, fd) => {
      if (error === null) closeSync(fd)
      else if (error.code === 'EMFILE' || error.code === 'ENFILE') this.failed('look', error)
    })
  }
}
