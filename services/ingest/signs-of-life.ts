import type { FeedDefinition } from '../core/feed.ts'
import { feedSeconds } from '../core/feed-clock.ts'
import type { FeedSigns } from '../ports/feed-board.ts'
import type { Heartbeat__Output } from '../wire/fxd/v1/Heartbeat.ts'
import type { FeedState } from './feed-state.ts'
import type { LaneDeps } from './lanes.ts'

/** What a live session says about its terminal, on its way to the feed board. */
export class SignsOfLife {
  readonly #deps: LaneDeps
  readonly #state: FeedState
  readonly #definition: () => FeedDefinition

  constructor(deps: LaneDeps, state: FeedState, definition: () => FeedDefinition) {
    this.#deps = deps
    this.#state = state
    this.#definition = definition
  }

  /** Counts while the terminal is connected, for feeds whose liveness it is. */
  heartbeat({ terminalConnected, newestTick }: Heartbeat__Output): void {
    this.tick(newestTick)
    if (terminalConnected && this.#definition().liveness === 'heartbeat') {
      this.#note({ heartbeatAt: this.#deps.clock.utcMs() })
    }
  }

  /** A tick from the future would close bars that are still forming: it is not believed where the clock is known. */
  tick(newest: number | undefined): void {
    if (newest === undefined || !Number.isSafeInteger(newest) || newest <= 0) return
    const definition = this.#definition()
    const isKnown = definition.clock.mode !== 'Measured'
    const now = isKnown ? this.#state.now(definition, this.#deps.clock) : undefined
    const newestTick = feedSeconds(now === undefined ? newest : Math.min(newest, now))
    this.#state.tick(newestTick)
    this.#note({ newestTick })
  }

  #note(signs: FeedSigns): void {
    const { stores, log } = this.#deps
    stores.board
      .note(this.#state.key, signs)
      .catch((cause: unknown) => log.warn({ err: cause }, 'the feed board did not take a sign of life'))
  }
}
