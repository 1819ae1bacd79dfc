import type { UtcMs } from '../core/clocks/feed-clock.ts'
import type { Findings } from './findings.ts'
import type { MovedClock } from './moved-clock.ts'
import type { RelayedSession } from './relay.ts'
import { SessionJudge, type SessionJudgeDeps } from './session-judge.ts'
import { UnackedBars } from './unacked-bars.ts'

/** The sessions of the collector, with what is known over all of them. */
export class Sessions {
  readonly unacked = new UnackedBars()
  readonly #deps: SessionJudgeDeps
  #newest: SessionJudge | undefined
  #isHolding = false
  #heldMs: UtcMs | undefined
  #wasSlow = false
  /** The next session stands by at first. */
  standsByNext = false

  constructor(clock: MovedClock, findings: Findings) {
    this.#deps = {
      clock: clock.clock,
      findings,
      unacked: this.unacked,
      newest: new Map(),
      identity: {},
      names: new Map(),
      isHolding: () => this.#isHolding,
      heldMs: () => this.#heldMs,
      wasSetBack: () => clock.wasSetBack,
      takeSlow: () => {
        const isFirst = !this.#wasSlow
        this.#wasSlow = true
        return isFirst
      },
    }
  }

  /** The newest session, if it may send bars. */
  get leading(): SessionJudge | undefined {
    return this.#newest && this.#newest.ageMs > 0 ? this.#newest : undefined
  }

  open(session: RelayedSession): SessionJudge {
    this.#newest = new SessionJudge(this.#deps, session, this.standsByNext)
    this.standsByNext = false
    this.#heldMs = undefined
    return this.#newest
  }

  /** Notes whether Acks are withheld. */
  hold(isHeld: boolean): void {
    this.#isHolding = isHeld
    if (isHeld) this.#heldMs = this.#deps.clock.utcMs()
  }

  tick(): void {
    this.#newest?.tick()
  }
}
