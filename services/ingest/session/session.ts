import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import type { Stores } from '../../ports/stores.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { Hello__Output } from '../../wire/gen/fxd/v1/Hello.ts'
import type { Access } from '../credentials/access.ts'
import { SessionEnd, sessionEnd } from '../session-end.ts'
import { type CollectorCall, CollectorStream } from './collector-stream.ts'
import { type Introduced, introduce } from './hello.ts'
import { type Leading, lead } from './lead.ts'
import type { OpenSessions } from './open-sessions.ts'
import type { Received } from './receive.ts'
import { SessionWork, type SessionWorkDeps } from './session-work.ts'

/** A connection that never says who it is. */
const helloDeadlineMs = 10_000
/** Timers hold no more than 24 days, and the wall clock may be set. */
const lookAgainMs = 3_600_000

export interface SessionDeps extends SessionWorkDeps {
  readonly stores: Pick<Stores, 'bars' | 'leases'>
  readonly registry: Pick<FollowedRegistry, 'view'>
  readonly sessions: OpenSessions
}

const noMessage = 'the bytes are no message of fxd.v1.Collector'
const noneSet =
  'CollectorMessage: no message set, wanted hello, catalogue, bars, window, gap, clock_sample or heartbeat'
const credentialEnded = 'the credential of this session has expired; connect with a new one'
const leaseUnknown = (feed: FeedKey): string =>
  `this ingest cannot ask who holds the lease of ${feed} (Redis is away); connect to another one, or again`

/**
 * One stream of a collector or an import: greets it, leads or stands by, hands its messages on in
 * order, and ends alone, whatever happens in it.
 */
export class CollectorSession {
  readonly id: string
  readonly access: Access
  readonly #stream: CollectorStream
  readonly #deps: SessionDeps
  readonly #abort = new AbortController()
  readonly #cancelHelloDeadline: () => void
  readonly #cancelExpiry: () => void
  #log: Log
  #who: Introduced | undefined
  #leading: Leading | undefined
  #work: SessionWork | undefined
  #beginning: Promise<unknown> | undefined
  #ended: Promise<void> | undefined

  constructor(call: CollectorCall, id: string, access: Access, deps: SessionDeps) {
    this.id = id
    this.access = access
    this.#stream = new CollectorStream(call, (cause) => void this.end(cause))
    this.#deps = deps
    this.#log = deps.log.child({ session: id })
    this.#cancelHelloDeadline = deps.clock.after(helloDeadlineMs, () => {
      if (!this.#who) void this.end(new SessionEnd('DEADLINE_EXCEEDED', 'no Hello came'))
    })
    const expire = (): void => void this.end(new SessionEnd('UNAUTHENTICATED', credentialEnded))
    this.#cancelExpiry =
      access.until === undefined ? () => undefined : atTime(access.until, deps.clock, expire)
    call.on('data', (received: Received) => this.#attempt(() => this.#receive(received)))
    // Half-closed: what came before is still worked through.
    call.on('end', () => this.#attempt(() => this.#stream.run(() => void this.end())))
    call.on('cancelled', () => void this.end())
    call.on('close', () => void this.end())
  }

  /** A defect that is met for this collector ends its session and nothing else. */
  #attempt(run: () => void): void {
    try {
      run()
    } catch (cause) {
      void this.end(cause)
    }
  }

  get who(): Introduced | undefined {
    return this.#who
  }

  /** Resolves when nothing of the session is left; calling it again waits for the first. Never rejects, never throws. */
  end(cause?: unknown): Promise<void> {
    this.#ended ??= this.#end(cause).catch((defect: unknown) => this.#cut(defect))
    return this.#ended
  }

  /** Its end met a defect. */
  #cut(defect: unknown): void {
    this.#log.error({ err: defect }, 'failed: a session did not end in order; it is cut')
    this.#deps.sessions.remove(this)
    this.#stream.cut(sessionEnd(defect))
  }

  async #end(cause: unknown): Promise<void> {
    this.#cancelHelloDeadline()
    this.#cancelExpiry()
    this.#abort.abort()
    this.#stream.stopThrottling()
    const end = cause === undefined ? undefined : sessionEnd(cause)
    if (end?.code === 'INTERNAL') this.#log.error({ err: cause }, 'a session failed through a defect')
    else if (end?.code === 'UNAVAILABLE') this.#log.warn({ err: cause }, 'a session ended: try again')
    else if (this.#who) this.#log.info({ code: end?.code ?? 'OK', why: end?.message }, 'session ended')
    this.#deps.metrics.ended(end?.code ?? 'OK')
    if (end?.code === 'PERMISSION_DENIED') this.#deps.metrics.refusedCall('foreign_feed')
    if (end?.code === 'UNAUTHENTICATED') this.#deps.metrics.refusedCall('expired')
    await this.#beginning
    // What was received is still committed and acknowledged where the collector listens.
    await this.#work?.settle()
    this.#stream.close(end)
    await this.#leading?.release()
    this.#work?.leave()
    if (this.#who) this.#deps.metrics.session(this.#who.isImport ? 'import' : 'live', -1)
    this.#deps.sessions.remove(this)
  }

  #receive(received: Received): void {
    if (this.#ended) return
    const { message } = received
    const kind = received.bars ? 'bars' : message?.message
    if (kind === undefined) {
      void this.end(new SessionEnd('INVALID_ARGUMENT', message ? noneSet : noMessage))
      return
    }
    if (!this.#who) this.#stream.run(() => this.#greet(message?.hello, kind))
    else if (message?.hello) void this.end(new SessionEnd('FAILED_PRECONDITION', 'Hello came twice'))
    else this.#stream.run(() => this.#handOn(received))
    this.#stream.throttle(this.#work?.isFull ?? false)
  }

  #handOn(received: Received): Promise<void> | void {
    if (this.#ended) return undefined
    if (this.#work) return this.#work.take(received)
    // Signs of life of a collector that stands by say nothing about the feed.
    if (received.message?.heartbeat || received.message?.clockSample) return undefined
    throw new SessionEnd('FAILED_PRECONDITION', 'this collector stands by: another one is active')
  }

  async #greet(hello: Hello__Output | null | undefined, kind: string): Promise<void> {
    if (!hello) throw new SessionEnd('FAILED_PRECONDITION', `the first message must be hello, got ${kind}`)
    const who = introduce(hello, this.#deps.registry.view(), this.access)
    const refusal = this.#deps.sessions.refusalOf(this, who)
    if (refusal) throw refusal
    this.#who = who
    this.#cancelHelloDeadline()
    this.#deps.metrics.session(who.isImport ? 'import' : 'live', 1)
    this.#log = this.#log.child({ feed: who.feed, collector: who.collectorId })
    this.#log.info({ terminal: who.terminal, mode: who.isImport ? 'import' : 'live' }, 'session began')
    if (who.isImport) return this.#begin(undefined)
    await this.#deps.sessions.replace(this, who)
    return this.#lead(who)
  }

  /** Resolves when this session leads, or once it is known that another does. */
  #lead(who: Introduced): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#leading = lead({
        leases: this.#deps.stores.leases,
        name: `feed ${who.feed}`,
        holder: this.id,
        clock: this.#deps.clock,
        log: this.#log,
        signal: this.#abort.signal,
        onWait: resolve,
        onTaken: () => {
          this.#stream.send({ welcome: { active: false, utcMs: this.#deps.clock.utcMs() } })
          this.#log.info('stands by')
        },
        onSilence: () => void this.end(new SessionEnd('UNAVAILABLE', leaseUnknown(who.feed))),
        onLost: () =>
          void this.end(new SessionEnd('ABORTED', 'the lease of the feed went to another ingest')),
      })
      this.#leading.granted
        .then((epoch) => {
          if (epoch === undefined) return resolve()
          const begun = this.#begin(epoch)
          // Of one that stood by, the messages that come from here on wait until it has begun.
          this.#stream.run(() => begun)
          return begun.then(resolve)
        })
        .catch(reject)
    })
  }

  /** `epoch`: of the lease; an import has none. */
  async #begin(epoch: number | undefined): Promise<void> {
    const { feed, isImport, rereadable } = this.#who as Introduced
    const beginning = SessionWork.begin(
      { feed, isImport, rereadable, epoch },
      { ...this.#deps, log: this.#log },
      this.#stream,
    )
    this.#beginning = beginning.catch(() => undefined)
    const work = await beginning
    this.#work = work
    if (this.#ended) work.leave()
  }
}

/** Runs once at that moment, never inside this call. */
function atTime(moment: UtcMs, clock: Clock, run: () => void): Cancel {
  let cancel: Cancel
  const look = (): void => {
    const leftMs = moment - clock.utcMs()
    if (leftMs <= 0) run()
    else arm(leftMs)
  }
  const arm = (leftMs: number): void => {
    cancel = clock.after(Math.min(Math.max(leftMs, 0), lookAgainMs), look)
  }
  arm(moment - clock.utcMs())
  return () => cancel()
}
