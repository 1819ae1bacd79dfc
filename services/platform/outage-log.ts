import type { Clock } from '../ports/clock.ts'
import type { Log } from './log/log.ts'

interface OutageLogDeps {
  readonly log: Log
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Fields of every line, such as the feed. */
  readonly about?: Readonly<Record<string, unknown>>
}

export interface OutageFailure {
  /** What is unavailable, and what that means: `feed board unavailable; feed liveness may be stale`. */
  readonly text: string
  readonly level?: 'warn' | 'error'
  readonly cause?: unknown
  /** A sentence on this failure, where no cause says it. */
  readonly why?: string
  /** For how long it has failed already; by default the outage begins now. */
  readonly failingMs?: number
  /** A failure for another reason than the last one is logged again. */
  readonly reason?: string
}

/** Logs an outage once when it begins and once, with its duration, when it ends. */
export class OutageLog {
  readonly #deps: OutageLogDeps
  #outage: { readonly sinceMs: number; readonly reason: string | undefined } | undefined

  constructor(deps: OutageLogDeps) {
    this.#deps = deps
  }

  get isOut(): boolean {
    return this.#outage !== undefined
  }

  failed({ text, level = 'warn', cause, why, failingMs = 0, reason }: OutageFailure): void {
    if (this.#outage && this.#outage.reason === reason) return
    this.#outage = { sinceMs: this.#outage?.sinceMs ?? this.#deps.clock.monotonicMs() - failingMs, reason }
    this.#deps.log[level]({ err: cause, why, ...this.#deps.about }, text)
  }

  /** `text` is logged where there was an outage: `feed board available again`. */
  worked(text: string): void {
    if (!this.#outage) return
    const seconds = Math.round((this.#deps.clock.monotonicMs() - this.#outage.sinceMs) / 1_000)
    this.#outage = undefined
    this.#deps.log.info({ ...this.#deps.about, seconds }, text)
  }
}
