import type { Log } from '../../platform/log/log.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'

const minuteMs = 60_000

/**
 * Requests that failed behind others of their key, or for want of room for long answers, which all keys share.
 * One line per key prefix and minute tells how many: a key that floods must not flood the log, too.
 */
export class OverloadLog {
  readonly #log: Log
  readonly #clock: Clock
  readonly #counts = new Map<string, number>()
  #cancel: Cancel = () => undefined

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  note(keyPrefix: string): void {
    const untilMinute = minuteMs - (this.#clock.utcMs() % minuteMs)
    if (this.#counts.size === 0) this.#cancel = this.#clock.after(untilMinute, () => this.flush())
    this.#counts.set(keyPrefix, (this.#counts.get(keyPrefix) ?? 0) + 1)
  }

  /** Writes what was counted since the last time. */
  flush(): void {
    this.#cancel()
    for (const [keyPrefix, count] of this.#counts)
      this.#log.warn(
        { keyPrefix, count },
        'refused requests: more was asked for at once than there is time or room for',
      )
    this.#counts.clear()
  }
}
