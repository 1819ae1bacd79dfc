import { Unavailable } from '../../../core/failure.ts'
import type { Log } from '../../../platform/log/log.ts'
import { OutageLog } from '../../../platform/outage-log.ts'
import { reached } from '../../../platform/stages.ts'
import { failingMsMax, WriteOutage } from '../../../platform/write-outage.ts'
import type { Clock } from '../../../ports/clock.ts'

/**
 * Tracks whether bars can be stored. Successful writes of other data do not show this: on a full disk the
 * counters of each second still fit into the free part of the file's log.
 */
export class BarWrites {
  readonly #outage: OutageLog
  readonly #writes: WriteOutage

  constructor(clock: Clock, log: Log) {
    this.#outage = new OutageLog({ log, clock })
    this.#writes = new WriteOutage(clock)
  }

  /** From the first failed write of bars to now; 0 after a success. */
  get failingMs(): number {
    return this.#writes.ms
  }

  throwIfFailing(): void {
    if (this.failingMs > failingMsMax)
      throw new Unavailable('store', new Error(`no bars were stored for ${secondsOf(this.failingMs)} s`))
  }

  async watch(write: Promise<unknown>): Promise<void> {
    this.#writes.asked()
    reached('storing')
    try {
      await write
      reached('committed')
    } catch (cause) {
      this.#failed(cause)
      throw cause
    }
    this.#writes.answered()
    this.#outage.worked('bars are stored again')
  }

  #failed(cause: unknown): void {
    if (this.failingMs <= failingMsMax) return
    this.#outage.failed({
      text: 'store unavailable; no bars can be stored; the disk may be full',
      level: 'error',
      cause,
      failingMs: this.failingMs,
    })
  }
}

const secondsOf = (ms: number): number => Math.round(ms / 1_000)
