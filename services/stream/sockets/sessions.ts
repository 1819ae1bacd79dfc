import { dateText, daySeconds } from '../../core/clocks/calendar.ts'
import { toSeconds } from '../../core/clocks/feed-clock.ts'
import type { Day } from '../../core/keys/usage.ts'
import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import { type Session, type SlotOutcome, type Slots, slotLeaseMs, slotRenewMs } from '../../ports/slots.ts'
import type { StreamMetrics, slotCalls } from '../metrics.ts'

type Call = (typeof slotCalls)[number]

const dayMs = daySeconds * 1000
/** Interval of retries after slots could not be renewed, taken again or freed. */
const renewRetryMs = 1_000
/** Maximum slots whose release is retried; with more the oldest is left to its lease. */
const unfreedMax = 10_000
/** Maximum slots freed or taken again at once; a larger batch would time out in the queue. */
export const slotsAtOnce = 200

interface SessionsDeps {
  readonly slots: Slots
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<StreamMetrics, 'slotFailures'>
}

interface OpenSession extends Session {
  /** The last UTC day on which the session was counted. */
  countedOn: Day
}

/**
 * The sessions of this process, each with a slot. All slots are renewed together every 20 s, and at midnight, so that the
 * new day counts its sessions. Each slot is freed exactly once.
 */
export class Sessions {
  readonly #deps: SessionsDeps
  /** By session id, in the order of their opening. */
  readonly #open = new Map<string, OpenSession>()
  /** Closed sessions whose slot could not be freed, with the time when it lapses, the earliest first. */
  readonly #unfreed = new Map<Session, number>()
  readonly #stopRenewing: Cancel
  #cancelMidnight: Cancel = () => undefined
  #cancelRetry: Cancel | undefined
  readonly #outages: Readonly<Record<Call, OutageLog>>
  #areLapsesLogged = false
  #isStopped = false
  #isRenewing = false
  #onLapse: (sessionIds: readonly string[]) => void = () => undefined

  constructor(deps: SessionsDeps) {
    const { clock, log } = deps
    this.#deps = deps
    const outageOf = (call: Call): OutageLog => new OutageLog({ log, clock, about: { call } })
    this.#outages = { open: outageOf('open'), close: outageOf('close'), renew: outageOf('renew') }
    this.#stopRenewing = clock.every(slotRenewMs, () => void this.#renew())
    this.#awaitMidnight()
  }

  /** `listen` receives the sessions whose slot lapsed, at each renewal until they are open again or closed. */
  onLapse(listen: (sessionIds: readonly string[]) => void): void {
    this.#onLapse = listen
  }

  /** Takes a slot. Rejects if it is unknown whether the slot was taken; then the slot is freed. */
  async open(keyId: string, sessionId: string, cap: number): Promise<SlotOutcome> {
    const session = { keyId, sessionId, countedOn: this.#today() }
    try {
      const outcome = await this.#deps.slots.open(keyId, sessionId, cap)
      this.#worked('open')
      if (outcome.outcome === 'open') this.#open.set(sessionId, session)
      return outcome
    } catch (cause) {
      this.#failed('open', cause)
      // Most likely no slot was taken. So the session is listed only while half of the list is free: it must
      // not displace a session whose slot was taken.
      void this.#isFreed(session).then((isFreed) => {
        if (!isFreed && this.#unfreed.size < unfreedMax / 2) this.#freeLater(session)
      })
      throw cause
    }
  }

  /** Takes a slot again for a session that lapsed. Never rejects; retries after a second if the outcome is unknown. */
  async reopen(sessionId: string, cap: number): Promise<SlotOutcome['outcome'] | 'unknown'> {
    const session = this.#open.get(sessionId)
    if (!session) return 'unknown'
    const today = this.#today()
    try {
      const { outcome } = await this.#deps.slots.open(session.keyId, sessionId, cap, session.countedOn)
      this.#worked('open')
      if (outcome === 'open') session.countedOn = today
      // The session was closed meanwhile, perhaps before the slot was taken.
      if (!this.#open.has(sessionId)) await this.#free(session)
      return outcome
    } catch (cause) {
      this.#failed('open', cause)
      this.#retry()
      return 'unknown'
    }
  }

  /** Never rejects; the release of a slot is retried each second until it succeeds or the lease lapsed. */
  async close(sessionId: string): Promise<void> {
    const session = this.#open.get(sessionId)
    if (!session) return
    this.#open.delete(sessionId)
    await this.#free(session)
  }

  stop(): void {
    this.#stopRenewing()
    this.#cancelMidnight()
    this.#cancelRetry?.()
    this.#isStopped = true
  }

  async #free(session: Session): Promise<void> {
    if (!(await this.#isFreed(session))) this.#freeLater(session)
  }

  #freeLater(session: Session): void {
    if (this.#isStopped) return
    this.#unfreed.set(session, this.#deps.clock.monotonicMs() + slotLeaseMs)
    if (this.#unfreed.size > unfreedMax)
      for (const oldest of this.#unfreed.keys().take(1)) this.#unfreed.delete(oldest)
    this.#retry()
  }

  async #isFreed({ keyId, sessionId }: Session): Promise<boolean> {
    try {
      await this.#deps.slots.close(keyId, sessionId)
      this.#worked('close')
      return true
    } catch (cause) {
      this.#failed('close', cause)
      return false
    }
  }

  /** Retries the release of slots. The first call is made alone: if it fails, the slots are still unavailable. */
  async #freeAgain(): Promise<void> {
    const now = this.#deps.clock.monotonicMs()
    for (const [session, lapsesAtMs] of this.#unfreed) if (lapsesAtMs <= now) this.#unfreed.delete(session)
    const waiting = [...this.#unfreed.keys()]
    for (let i = 0, atOnce = 1; i < waiting.length; i += atOnce, atOnce = slotsAtOnce) {
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
      // Slots of closed sockets are freed first: they must not count against the open sockets that are renewed.
      await this.#freeAgain()
      if (this.#open.size > 0) await this.#renewAll()
    } finally {
      this.#isRenewing = false
      if (this.#unfreed.size > 0) this.#retry()
    }
  }

  async #renewAll(): Promise<void> {
    const today = this.#today()
    const asked = [...this.#open.values()]
    try {
      const lapsed = new Set(
        await this.#deps.slots.renew(asked.map(({ keyId, sessionId }) => ({ keyId, sessionId }))),
      )
      for (const session of asked) if (!lapsed.has(session.sessionId)) session.countedOn = today
      this.#worked('renew')
      this.#logLapses(lapsed.size)
      if (lapsed.size === 0) return
      this.#onLapse([...lapsed])
    } catch (cause) {
      this.#failed('renew', cause)
      this.#retry()
    }
  }

  /** Renews again after a pause: after an outage lapsed slots should be taken soon, before other clients take them. */
  #retry(): void {
    if (this.#isStopped || this.#cancelRetry) return
    this.#cancelRetry = this.#deps.clock.after(renewRetryMs, () => {
      this.#cancelRetry = undefined
      void this.#renew()
    })
  }

  #awaitMidnight(): void {
    this.#cancelMidnight = this.#deps.clock.after(dayMs - (this.#deps.clock.utcMs() % dayMs), () => {
      this.#awaitMidnight()
      void this.#renew()
    })
  }

  #today(): Day {
    return dateText(toSeconds(this.#deps.clock.utcMs()))
  }

  /** Logs once until no slot is lapsed: each renewal returns the same sessions. */
  #logLapses(sessions: number): void {
    if (sessions > 0 && !this.#areLapsesLogged)
      this.#deps.log.warn(
        { sessions },
        'slot leases expired; renewing them; sockets above the connection cap will close with 4002',
      )
    this.#areLapsesLogged = sessions > 0
  }

  #worked(call: Call): void {
    this.#outages[call].worked('slots available again')
  }

  /** Logs once until a call of this kind succeeds: in an outage every upgrade fails. */
  #failed(call: Call, cause: unknown): void {
    this.#deps.metrics.slotFailures.inc({ call })
    this.#outages[call].failed({ text: 'slots unavailable; new sockets get 503; open sockets stay', cause })
  }
}
