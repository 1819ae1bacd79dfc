import { Unavailable } from '../../../core/failure.ts'
import type { Log } from '../../../platform/log/log.ts'
import { Trouble, troubleMsMax } from '../../../platform/trouble.ts'
import type { Clock } from '../../../ports/clock.ts'

/**
 * Whether bars can be stored. Other writes tell nothing: on a full disk the counters of each second still fit
 * into what the file's log has left.
 */
export class BarWrites {
  readonly #log: Log
  readonly #trouble: Trouble
  #isTold = false

  constructor(clock: Clock, log: Log) {
    this.#log = log
    this.#trouble = new Trouble(clock)
  }

  /** From the first write of bars without success to now; 0 after a success. */
  get failingMs(): number {
    return this.#trouble.ms
  }

  refuseTrouble(): void {
    if (this.failingMs > troubleMsMax)
      throw new Unavailable('store', new Error(`no bars were stored for ${secondsOf(this.failingMs)} s`))
  }

  async watch(write: Promise<unknown>): Promise<void> {
    this.#trouble.asked()
    try {
      await write
    } catch (cause) {
      this.#failed(cause)
      throw cause
    }
    this.#trouble.answered()
    if (this.#isTold) this.#log.info('bars are stored again')
    this.#isTold = false
  }

  #failed(cause: unknown): void {
    if (this.#isTold || this.failingMs <= troubleMsMax) return
    this.#isTold = true
    const seconds = secondsOf(this.failingMs)
    this.#log.error({ err: cause, seconds }, 'unavailable: no bars can be stored; the disk may be full')
  }
}

const secondsOf = (ms: number): number => Math.round(ms / 1_000)
