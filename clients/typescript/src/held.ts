import type { Followed } from './followed.ts'
import { missing } from './missing.ts'
import { jitterMs } from './pause.ts'
import { minute } from './time.ts'
import type { Range } from './types.ts'

/** Bars that stay missing for longer are named as a gap. */
export const unfilledMs = 120_000
/** The pause between attempts is at most 8 s. */
const attemptsMax = 3

/** Time until the next attempt. */
export const attemptMs = (followed: Followed): number => {
  const ms = jitterMs(followed.attempts)
  followed.attempts = Math.min(followed.attempts + 1, attemptsMax)
  return ms
}

/** Coverage of these symbols at least; a symbol is absent if it cannot be read. */
export type ReadCoverage = (symbols: readonly string[]) => Promise<Readonly<Record<string, readonly Range[]>>>

/**
 * Symbols with a bar that waits, since minutes before it may be missing: a collector may bring later what it missed
 * during an outage. Nobody pushes that, and no GAP names it.
 */
export class Held {
  readonly #coverage: ReadCoverage
  #isAsking = false

  constructor(coverage: ReadCoverage) {
    this.#coverage = coverage
  }

  /** Asks which minutes are missing, and calls `done`. The symbols are `idle` then: subscribed again, they get what came meanwhile. */
  async review(followed: readonly Followed[], done: () => void): Promise<void> {
    if (followed.length === 0 || this.#isAsking) return
    this.#isAsking = true
    const coverage = await this.#coverage(followed.map(({ symbol }) => symbol))
    this.#isAsking = false
    const now = performance.now()
    for (const each of followed) {
      const { symbol, held, since = 0, gapMs = now, state } = each
      // The socket closed meanwhile.
      if (held === undefined || state !== 'waiting') continue
      const gaps = missing(coverage[symbol] ?? [], since, held)
      if (gaps.length === 0 || now - gapMs > unfilledMs) {
        each.gaps = gaps
        each.sure = held - minute
        each.settle()
      }
      each.state = 'idle'
    }
    done()
  }
}
