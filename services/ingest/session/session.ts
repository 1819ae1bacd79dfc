import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import { failureFields, faultPlace } from '../../core/fault-place.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import type { Stores } from '../../ports/stores.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { Hello__Output } from '../../wire/gen/fxd/v1/Hello.ts'
import type { Access } from '../credentials/access.ts'
import { SessionEnd, sessionEnd } from '../session-end.ts'
import { type CollectorIdentity, identify } from './hello.ts'
import { type Leadership, lead } from './lead.ts'
import type { OpenSessions } from './open-sessions.ts'
import { type CollectorCall, CollectorStream } from './stream/collector-stream.ts'
import type { Received } from './stream/receive.ts'
import { SessionWork, type SessionWorkDeps } from './work/session-work.ts'

/** Maximum time to the Hello; a session without one ends. */
const helloDeadlineMs = 10_000
/** Maximum delay of one timer: timers cannot exceed 24 days, and the wall clock may be set. */
const timerMsMax = 3_600_000

export interface SessionDeps extends SessionWorkDeps {
  readonly stores: Pick<Stores, 'bars' | 'leases'>
  readonly registry: Pick<FollowedRegistry, 'view'>
  readonly sessions: OpenSessions
}

const noMessage = 'the bytes are no message of fxd.v1.Collector'
const noneSet =
  'CollectorMessage: no message set, wanted hello, catalogue, bars, window, gap, clock_sample or heartbeat'
const credentialEnded = 'the credential of this session has expired; connect with a new one'
const otherLeads = new SessionEnd('ABORTED', 'another session holds the lease of the feed')
const leaseUnknown = (feed: FeedKey): string =>
  `lease store unavailable: the lease of ${feed} is unknown; connect to another ingest, or retry`

/** One collector or import: reads its Hello, leads or stands by, processes messages in order. Its faults end no other. */
export class CollectorSession {
  readonly id: string
  readonly access: Access
  readonly #stream: CollectorStream
  readonly #deps: SessionDeps
  readonly #abort = new AbortController()
  readonly #cancelHelloDeadline: () => void
  readonly #cancelExpiry: () => void
  #log: Log
  #identity: CollectorIdentity | undefined
  #leadership: Leadership | undefined
  #leads = false
  #work: SessionWork | undefined
  #ended: Promise<void> | undefined

  constructor(call: CollectorCall, id: string, access: Access, deps: SessionDeps) {
    this.id = id
    this.access = access
    this.#stream = new CollectorStream(call, deps.clock, (cause) => void this.end(cause))
    this.#deps = deps
    this.#log = deps.log.child({ session: id })
    this.#cancelHelloDeadline = deps.clock.after(helloDeadlineMs, () => {
      if (!this.#identity)
        void this.end(new SessionEnd('DEADLINE_EXCEEDED', `no Hello within ${helloDeadlineMs / 1_000} s`))
    })
    const expire = (): void => void this.end(new SessionEnd('UNAUTHENTICATED', credentialEnded))
    this.#cancelExpiry =
      access.until === undefined ? () => undefined : atTime(access.until, deps.clock, expire)
    call.on('data', (received: Received) => this.#attempt(() => this.#receive(received)))
    // The collector closed its side: earlier messages are still processed.
    call.on('end', () => this.#attempt(() => this.#stream.run(() => void this.#finish())))
    call.on('cancelled', () => void this.end())
    call.on('close', () => void this.end())
    // Unread answers stay in memory after the end, so until then the session counts towards the maximum.
    void this.#stream.closed.then(() => this.end()).then(() => deps.sessions.remove(this))
  }

  /** A defect ends this session only. */
  #attempt(run: () => void): void {
    try {
      run()
    } catch (cause) {
      void this.end(cause)
    }
  }

  get identity(): CollectorIdentity | undefined {
    return this.#identity
  }

  get leads(): boolean {
    return this.#leads && !this.#ended
  }

  /**
   * Resolves when the session has released everything, without waiting for the store. `isStopping`: received messages
   * are committed and acknowledged first. A second call waits for the first. Never rejects or throws.
   */
  end(cause?: unknown, { isStopping = false } = {}): Promise<void> {
    this.#ended ??= this.#end(cause, isStopping).catch((defect: unknown) => this.#cut(defect))
    return this.#ended
  }

  async #finish(): Promise<void> {
    await this.#work?.finish()
    await this.end()
  }

  #cut(defect: unknown): void {
    this.#log.error(failureFields(defect), 'failed to end a session; its stream is closed')
    this.#stream.cut(sessionEnd(defect))
  }

  async #end(cause: unknown, isStopping: boolean): Promise<void> {
    this.#cancelHelloDeadline()
    this.#cancelExpiry()
    this.#abort.abort()
    this.#stream.stopThrottling()
    const end = cause === undefined ? undefined : sessionEnd(cause)
    if (end?.code === 'INTERNAL') this.#log.error(faultPlace(cause), 'session failed through a defect')
    else if (end?.code === 'UNAVAILABLE') this.#logUnavailable(cause, end.message)
    else if (this.#identity) this.#log.info({ code: end?.code ?? 'OK', why: end?.message }, 'session ended')
    this.#deps.metrics.ended(end?.code ?? 'OK')
    if (end?.code === 'PERMISSION_DENIED') this.#deps.metrics.refusedCall('foreign_feed')
    if (end?.code === 'UNAUTHENTICATED') this.#deps.metrics.refusedCall('expired')
    if (isStopping) await this.#work?.settle()
    // A purge waits for the lease.
    await this.#work?.dropped()
    await this.#leadership?.release()
    this.#stream.close(end)
    this.#work?.leave()
    if (this.#identity) this.#deps.metrics.session(this.#identity.isImport ? 'import' : 'live', -1)
  }

  /** Once a minute for each feed and reason: the cause of the next session is the same. */
  #logUnavailable(cause: unknown, why: string): void {
    const { feed, collectorId: collector } = this.#identity ?? {}
    const fields = { err: cause, session: this.id, feed, collector }
    const text = 'session ended with UNAVAILABLE; the collector is retrying'
    this.#deps.sessions.unavailableLog.write('warn', fields, text, `${feed} ${why}`)
  }

  #receive(received: Received): void {
    if (this.#ended) return
    const { message } = received
    const kind = received.bars ? 'bars' : message?.message
    if (kind === undefined) {
      void this.end(new SessionEnd('INVALID_ARGUMENT', message ? noneSet : noMessage))
      return
    }
    if (!this.#identity) this.#stream.run(() => this.#acceptHello(message?.hello, kind))
    else if (message?.hello)
      void this.end(new SessionEnd('FAILED_PRECONDITION', 'got a second Hello, wanted one per session'))
    else this.#stream.run(() => this.#process(received))
    if (message?.heartbeat ?? message?.clockSample) this.#stream.noteUnanswered()
    this.#stream.throttle(this.#work?.isFull ?? false)
  }

  #process(received: Received): Promise<void> | void {
    if (this.#ended) return undefined
    if (this.#work) return this.#work.take(received)
    // Heartbeats and clock samples of a standby say nothing about the feed.
    if (received.message?.heartbeat || received.message?.clockSample) return undefined
    throw new SessionEnd('FAILED_PRECONDITION', 'this collector stands by: another one is active')
  }

  async #acceptHello(hello: Hello__Output | null | undefined, kind: string): Promise<void> {
    if (!hello) throw new SessionEnd('FAILED_PRECONDITION', `the first message must be hello, got ${kind}`)
    const identity = identify(hello, this.#deps.registry.view(), this.access)
    const refusal = this.#deps.sessions.refusalByFeed(this, identity)
    if (refusal) throw refusal
    this.#identity = identity
    this.#cancelHelloDeadline()
    const mode = identity.isImport ? 'import' : 'live'
    this.#deps.metrics.session(mode, 1)
    this.#log = this.#log.child({ feed: identity.feed, collector: identity.collectorId })
    this.#log.info({ terminal: identity.terminal, mode }, 'session started')
    if (identity.isImport) return this.#begin(0)
    await this.#deps.sessions.replace(this, identity)
    return this.#lead(identity)
  }

  /** Resolves when this session leads, or when another session is known to lead. */
  #lead(identity: CollectorIdentity): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#leadership = lead({
        leases: this.#deps.stores.leases,
        feed: identity.feed,
        holder: this.id,
        clock: this.#deps.clock,
        log: this.#log,
        signal: this.#abort.signal,
        onWait: resolve,
        onTaken: () => {
          const terminalIdentity = this.#deps.registry.view().terminals.get(identity.feed)
          const utcMs = this.#deps.clock.utcMs()
          this.#stream.send({
            welcome: { active: false, utcMs, ...(terminalIdentity !== undefined && { terminalIdentity }) },
          })
          this.#log.info('session on standby; another collector is active')
        },
        onSilence: () => void this.end(new SessionEnd('UNAVAILABLE', leaseUnknown(identity.feed))),
        onLost: () => void this.end(new SessionEnd('ABORTED', 'another ingest holds the lease of the feed')),
      })
      this.#leadership.granted
        .then((epoch) => {
          if (epoch === undefined) return resolve()
          this.#leads = true
          // Until its next renewal an earlier leader here would mark bars as pushed that the bus refuses.
          this.#deps.sessions.endLeader(identity.feed, otherLeads, this)
          const begun = this.#begin(epoch)
          // If it stood by, later messages wait until the work has begun.
          this.#stream.run(() => begun)
          return begun.then(resolve)
        })
        .catch(reject)
    })
  }

  /** `epoch`: of the lease; 0 for an import. */
  async #begin(epoch: number): Promise<void> {
    const { feed, isImport, rereadable } = this.#identity as CollectorIdentity
    const work = await SessionWork.begin(
      { feed, isImport, rereadable, epoch },
      { ...this.#deps, log: this.#log },
      this.#stream,
      this.#abort.signal,
    )
    this.#work = work
    if (this.#ended) work.leave()
  }
}

/** Runs `run` once at `moment`, never inside this call. Returns its cancel function. */
function atTime(moment: UtcMs, clock: Clock, run: () => void): Cancel {
  const leftMs = (): number => Math.max(0, moment - clock.utcMs())
  const check = (): void => {
    if (leftMs() > 0) cancel = arm()
    else run()
  }
  const arm = (): Cancel => clock.after(Math.min(leftMs(), timerMsMax), check)
  let cancel = arm()
  return () => cancel()
}
