import type { Clock } from '../../ports/clock.ts'
import type { Log, LogLevel } from './log.ts'

/** Minimum time between two lines with the same text. */
const intervalMs = 60_000

interface Line {
  readonly text: string
  readonly level: LogLevel
  readonly atMs: number
  /** Events since the line was written. */
  left: number
}

/** Writes each text of a peer at once, then at most once a minute with the number of its events since its last line. */
export class LimitedLog {
  readonly #log: Log
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #lines = new Map<string, Line>()

  constructor(log: Log, clock: Pick<Clock, 'monotonicMs'>) {
    this.#log = log
    this.#clock = clock
  }

  /** `text` contains nothing of the peer. Lines with another `about`, of a bounded set, are limited separately. */
  write(level: LogLevel, fields: Readonly<Record<string, unknown>>, text: string, about = ''): void {
    const atMs = this.#clock.monotonicMs()
    const key = `${text} ${about}`
    const last = this.#lines.get(key)
    if (last && atMs - last.atMs < intervalMs) {
      last.left += 1
      return
    }
    this.#lines.set(key, { text, level, atMs, left: 0 })
    this.#log[level]({ ...fields, events: (last?.left ?? 0) + 1 }, text)
  }

  /** Logs the number of events that no line has counted. */
  flush(): void {
    for (const { text, level, left } of this.#lines.values())
      if (left > 0) this.#log[level]({ events: left }, text)
    this.#lines.clear()
  }
}
