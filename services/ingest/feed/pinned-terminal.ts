import { terminalPinId } from '../../core/registry/terminal-pin.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import { SessionEnd } from '../session-end.ts'
import type { FeedState } from './feed-state.ts'

/** Delay before a failed write is retried, with the next heartbeat after it. */
const retryMs = 10_000
const identityLengthMax = 2_048

interface PinDeps {
  readonly clock: Clock
  readonly log: Log
}

/** Stores the terminal that the collector of one live session names first. Ends the session when a person accepts another. */
export class PinnedTerminal {
  readonly #deps: PinDeps
  readonly #state: FeedState
  /** What the collector knows: that of its Welcome, or the one that it named. */
  #known: string | undefined
  #isWriting = false
  #notBeforeMs = 0

  constructor(deps: PinDeps, state: FeedState) {
    this.#deps = deps
    this.#state = state
    this.#known = this.#stored()
  }

  /** Throws `SessionEnd`. */
  heartbeat(identity: string | undefined): void {
    if (identity !== undefined && identity.length > identityLengthMax)
      throw new SessionEnd(
        'INVALID_ARGUMENT',
        `Heartbeat.terminal_identity: got ${identity.length} characters, wanted at most ${identityLengthMax}`,
      )
    if (this.#isWriting) return
    if (this.#stored() !== this.#known)
      throw new SessionEnd(
        'UNAVAILABLE',
        `the terminal that ${this.#state.key} accepts has changed; connect again`,
      )
    const isDue = this.#deps.clock.monotonicMs() >= this.#notBeforeMs
    if (identity !== undefined && this.#known === undefined && isDue) this.#store(identity)
  }

  #stored(): string | undefined {
    return this.#state.registry.current().view.terminals.get(this.#state.key)
  }

  #store(identity: string): void {
    const { clock, log } = this.#deps
    const { key: feed, registry } = this.#state
    this.#isWriting = true
    registry
      .change((view) => ({
        rows:
          view.terminals.get(feed) === undefined
            ? [{ kind: 'terminal', id: terminalPinId(feed), body: { feed, identity } }]
            : [],
        result: undefined,
      }))
      .then(() => {
        // If another session was faster, the next heartbeat ends this one.
        if (this.#stored() !== identity) return
        this.#known = identity
        log.info({ terminal: identity }, 'first terminal of the feed pinned')
      })
      .catch((cause: unknown) => {
        this.#notBeforeMs = clock.monotonicMs() + retryMs
        log.warn({ err: cause }, 'failed to store the terminal of the feed; retrying with a later heartbeat')
      })
      .finally(() => {
        this.#isWriting = false
      })
  }
}
