import { dateText, daySeconds } from '../../core/clocks/calendar.ts'
import { toSeconds } from '../../core/clocks/feed-clock.ts'
import type { Day } from '../../core/keys/usage.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import { type Session, type SlotOutcome, type Slots, slotLeaseMs, slotRenewMs } from '../../ports/slots.ts'
import type { StreamMetrics, slotCalls } from '../metrics.ts'

type Call = (typeof slotCalls)[number]

const dayMs = daySeconds * 1000
/** After a failure held slots are renewed, or taken again, so often, until they are. */
const renewRetryMs = 1_000
/** Slots to be freed once they can be reached; beyond it the one that waits longest lapses with its lease. */
const unfreedMax = 10_000
/** Of those one call after the other, so that none waits for its turn until its deadline. */
const freedAtOnce = 200

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
  /** Closed sessions whose slot could not be freed, by when it lapses, the first one first. */
  readonly #unfreed = new Map<Session, number>()
  readonly #stopRenewing: Cancel
  #cancelMidnight: Cancel = () => undefined
  #cancelRetry: Cancel | undefined
  /** Which calls fail now, as the log was told. */
  readonly #told = new Set<Call>()
  #areLapsesTold = false
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
      this.#told.delete('open')
      if (outcome.outcome === 'open') this.#held.set(sessionId, held)
      return outcome
    } catch (cause) {
      this.#failed('open', cause)
      // Most likely nothing was taken: that must not push out what surely was.
      void this.#free(held, unfreedMax / 2)
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

  /** Never rejects: a slot that could not be freed is freed each second again, until it lapsed with its lease. */
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

  async #free(session: Session, keptMax: number = unfreedMax): Promise<void> {
    if (await this.#isFreed(session)) return
    if (this.#isStopped || (keptMax < unfreedMax && this.#unfreed.size >= keptMax)) return
    this.#unfreed.set(session, this.#clock.monotonicMs() + slotLeaseMs)
    if (this.#unfreed.size > unfreedMax)
      for (const oldest of this.#unfreed.keys().take(1)) this.#unfreed.delete(oldest)
    this.#retry()
  }

  async #isFreed({ keyId, sessionId }: Session): Promise<boolean> {
    try {
      await this.#slots.close(keyId, sessionId)
      this.#told.delete('close')
      return true
    } catch (cause) {
      this.#failed('close', cause)
      return false
    }
  }

  /** What ended while the slots were away; for as long as they still are, it is the first call that says so. */
  async #freeAgain(): Promise<void> {
    const now = this.#clock.monotonicMs()
    for (const [session, lapsesAtMs] of this.#unfreed) if (lapsesAtMs <= now) this.#unfreed.delete(session)
    const waiting = [...this.#unfreed.keys()]
    for (let i = 0, atOnce = 1; i < waiting.length; i += atOnce, atOnce = freedAtOnce) {
      const some = waiting.slice(i, i + atOnce)
      const freed = await Promise.all(some.map((session) => this.#isFreed(session)))
      some.forEach((session, j) => freed[j] && this.#unfreed.delete(session))
      if (freed.includes(false)) return
    }
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    try {
      // First, or the slots of sockets that are gone would keep those that are there from theirs.
      await this.#freeAgain()
      if (this.#held.size > 0) await this.#renewAll()
    } finally {
      this.#isRenewing = false
      if (this.#unfreed.size > 0) this.#retry()
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
      this.#told.delete('renew')
      this.#tellLapses(lapsed.size)
      if (lapsed.size === 0) return
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

  /** Until none is left they come back with each try. */
  #tellLapses(sessions: number): void {
    if (sessions > 0 && !this.#areLapsesTold)
      this.#log.warn({ sessions }, 'slots lapsed; they are taken again as far as the cap allows')
    this.#areLapsesTold = sessions > 0
  }

  /** Told once for as long as such calls fail: every upgrade of an outage does. */
  #failed(call: Call, cause: unknown): void {
    this.#failures.inc({ call })
    if (this.#told.has(call)) return
    this.#told.add(call)
    this.#log.warn({ err: cause, call }, 'slots could not be reached; the metric counts how often')
  }
}
