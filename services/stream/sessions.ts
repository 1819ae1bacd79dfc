import { dateText, daySeconds } from '../core/calendar.ts'
import { toSeconds } from '../core/feed-clock.ts'
import type { Day } from '../core/usage.ts'
import type { Log } from '../platform/log.ts'
import type { Cancel, Clock } from '../ports/clock.ts'
import { type Session, type SlotOutcome, type Slots, slotRenewMs } from '../ports/slots.ts'
import type { StreamMetrics } from './metrics.ts'

const dayMs = daySeconds * 1000
/** After a failure held slots are renewed, or taken again, so often, until they are. */
const renewRetryMs = 1_000

interface Held extends Session {
  /** The last UTC day on which the session was counted. */
  countedOn: Day
}

/**
 * The slots this process holds: taken, renewed together every 20 s and at midnight (so that the new day
 * counts its sessions at once), and freed exactly once.
 */
export class Sessions {
  readonly #slots: Slots
  readonly #clock: Clock
  readonly #log: Log
  readonly #failures: StreamMetrics['slotFailures']
  /** By session id, in the order of their opening. */
  readonly #held = new Map<string, Held>()
  readonly #stopRenewing: Cancel
  #cancelMidnight: Cancel = () => undefined
  #cancelRetry: Cancel | undefined
  #isStopped = false
  #isRenewing = false
  #onLapse: (sessionIds: readonly string[]) => void = () => undefined

  constructor(slots: Slots, clock: Clock, log: Log, metrics: StreamMetrics) {
    this.#slots = slots
    this.#clock = clock
    this.#log = log
    this.#failures = metrics.slotFailures
    this.#stopRenewing = clock.every(slotRenewMs, () => void this.#renew())
    this.#awaitMidnight()
  }

  /**
   * Called with the sessions that lost their slot because this process, or the way to the slots, stood
   * still for longer than a lease; again at each renewal until they are open again or closed.
   */
  onLapse(listen: (sessionIds: readonly string[]) => void): void {
    this.#onLapse = listen
  }

  /** Rejects when it cannot be known whether the slot is taken; it is given back then. */
  async open(keyId: string, sessionId: string, cap: number): Promise<SlotOutcome> {
    const held = { keyId, sessionId, countedOn: this.#today() }
    try {
      const outcome = await this.#slots.open(keyId, sessionId, cap)
      if (outcome.outcome === 'open') this.#held.set(sessionId, held)
      return outcome
    } catch (cause) {
      this.#failed('open', cause)
      this.#held.set(sessionId, held)
      void this.close(sessionId)
      throw cause
    }
  }

  /** Takes a slot again for a session that lapsed. Never rejects: what is unknown is asked again after a second. */
  async reopen(sessionId: string, cap: number): Promise<SlotOutcome['outcome'] | 'unknown'> {
    const held = this.#held.get(sessionId)
    if (!held) return 'unknown'
    const today = this.#today()
    try {
      const { outcome } = await this.#slots.open(held.keyId, sessionId, cap, held.countedOn)
      if (outcome === 'open') held.countedOn = today
      // It was closed meanwhile, perhaps before it was open.
      if (!this.#held.has(sessionId)) await this.#free(held)
      return outcome
    } catch (cause) {
      this.#failed('open', cause)
      this.#retry()
      return 'unknown'
    }
  }

  /** Never rejects: a slot that could not be freed lapses with its lease. */
  async close(sessionId: string): Promise<void> {
    const held = this.#held.get(sessionId)
    if (!held) return
    this.#held.delete(sessionId)
    await this.#free(held)
  }

  stop(): void {
    this.#stopRenewing()
    this.#cancelMidnight()
    this.#cancelRetry?.()
    this.#isStopped = true
  }

  async #free({ keyId, sessionId }: Session): Promise<void> {
    try {
      await this.#slots.close(keyId, sessionId)
    } catch (cause) {
      this.#failed('close', cause)
    }
  }

  async #renew(): Promise<void> {
    if (this.#held.size === 0 || this.#isRenewing) return
    this.#isRenewing = true
    try {
      await this.#renewAll()
    } finally {
      this.#isRenewing = false
    }
  }

  async #renewAll(): Promise<void> {
    const today = this.#today()
    const asked = [...this.#held.values()]
    try {
      const lapsed = new Set(
        await this.#slots.renew(asked.map(({ keyId, sessionId }) => ({ keyId, sessionId }))),
      )
      for (const held of asked) if (!lapsed.has(held.sessionId)) held.countedOn = today
      if (lapsed.size === 0) return
      this.#log.warn({ sessions: lapsed.size }, 'slots lapsed; they are taken again as far as the cap allows')
      this.#onLapse([...lapsed])
    } catch (cause) {
      this.#failed('renew', cause)
      this.#retry()
    }
  }

  /** Whoever is first after an outage takes what lapsed, or what an emptied Redis does not know. */
  #retry(): void {
    if (this.#isStopped || this.#cancelRetry) return
    this.#cancelRetry = this.#clock.after(renewRetryMs, () => {
      this.#cancelRetry = undefined
      void this.#renew()
    })
  }

  #awaitMidnight(): void {
    this.#cancelMidnight = this.#clock.after(dayMs - (this.#clock.utcMs() % dayMs), () => {
      this.#awaitMidnight()
      void this.#renew()
    })
  }

  #today(): Day {
    return dateText(toSeconds(this.#clock.utcMs()))
  }

  #failed(call: 'open' | 'close' | 'renew', cause: unknown): void {
    this.#failures.inc({ call })
    this.#log.warn({ err: cause, call }, 'slots could not be reached')
  }
}
