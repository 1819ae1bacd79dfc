import type { Log } from '../../../platform/log/log.ts'
import type { Clock } from '../../../ports/clock.ts'

const everyMs = 60_000
/** Causes that are remembered; a terminal may name any number of them. */
const causesMax = 1_000

/** Warns of what a terminal reports again and again: once per cause and minute. */
export class Notices {
  readonly #deps: { readonly log: Log; readonly clock: Clock }
  readonly #warnedMs = new Map<string, number>()

  constructor(deps: { readonly log: Log; readonly clock: Clock }) {
    this.#deps = deps
  }

  warn(cause: string, about: Readonly<Record<string, unknown>>, text: string): void {
    const { log, clock } = this.#deps
    const nowMs = clock.monotonicMs()
    if (nowMs - (this.#warnedMs.get(cause) ?? Number.NEGATIVE_INFINITY) < everyMs) return
    if (this.#warnedMs.size >= causesMax) this.#warnedMs.clear()
    this.#warnedMs.set(cause, nowMs)
    log.warn(about, text)
  }
}
