import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { LimitedLog } from '../../platform/log/limited-log.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Access } from '../credentials/access.ts'
import { SessionEnd } from '../session-end.ts'
import type { CollectorIdentity } from './hello.ts'

/** Maximum sessions of this process; further ones are refused. A feed needs one, an import one more. */
const sessionsMax = 1_024
/** Maximum sessions of one feed, with imports and standbys: one feed's credential cannot use up the process. */
export const sessionsPerFeedMax = 32

interface OpenSession {
  /** `undefined` until its Hello was accepted. */
  readonly identity: CollectorIdentity | undefined
  readonly access: Access
  /** Whether it has the lease of its feed, as far as it knows. */
  readonly leads: boolean
  end(cause?: unknown, options?: { readonly isStopping: boolean }): Promise<void>
}

/** The sessions of this process. */
export class OpenSessions {
  readonly #open = new Set<OpenSession>()
  #stopping: SessionEnd | undefined
  /** Shared by all sessions: a collector retries every few seconds while a store is unavailable. */
  readonly unavailableLog: LimitedLog

  constructor(log: Log, clock: Pick<Clock, 'monotonicMs'>) {
    this.unavailableLog = new LimitedLog(log, clock)
  }

  /** Why a new session of this access is refused, before its Hello names a feed. */
  refusalByAccess({ feeds }: Access): SessionEnd | undefined {
    // A collector may have an open connection to a process that is stopping.
    if (this.#stopping) return this.#stopping
    if (this.#open.size >= sessionsMax) return full(`ingest has ${sessionsMax} sessions open, the maximum`)
    if (feeds === 'all') return undefined
    const scope = textOf(feeds)
    // A credential without feeds is refused at its Hello.
    const openMax = sessionsPerFeedMax * Math.max(1, feeds.size)
    const open = this.#sessionsWhere(({ access }) => access.feeds !== 'all' && textOf(access.feeds) === scope)
    return open.length < openMax
      ? undefined
      : full(`credentials for ${scope} have ${open.length} sessions open, the maximum is ${openMax}`)
  }

  /** Why the feed accepts no further session. Sessions that this one replaces do not count. */
  refusalByFeed(session: OpenSession, identity: CollectorIdentity): SessionEnd | undefined {
    const open = this.#sessionsWhere(
      (other) =>
        other !== session && other.identity?.feed === identity.feed && !isSame(other.identity, identity),
    )
    return open.length < sessionsPerFeedMax
      ? undefined
      : full(`${identity.feed} has ${open.length} sessions open, the maximum is ${sessionsPerFeedMax}`)
  }

  /** Number of sessions that lead this feed: 0 or 1, or 2 until an earlier leader learns that it leads no longer. */
  leaderCount(feed: FeedKey): number {
    return this.#sessionsWhere(({ leads, identity }) => leads && identity?.feed === feed).length
  }

  add(session: OpenSession): void {
    this.#open.add(session)
  }

  remove(session: OpenSession): void {
    this.#open.delete(session)
  }

  /** Ends the old session of a reconnecting collector, so that it does not stand by behind itself. */
  async replace(session: OpenSession, identity: CollectorIdentity): Promise<void> {
    const old = this.#sessionsWhere((other) => other !== session && isSame(other.identity, identity))
    const why = new SessionEnd('ABORTED', 'a newer session of the same collector took over')
    await Promise.all(old.map((other) => other.end(why)))
  }

  endLeader(feed: FeedKey, cause: SessionEnd, except?: OpenSession): void {
    const leading = this.#sessionsWhere(
      (other) => other !== except && other.leads && other.identity?.feed === feed,
    )
    for (const other of leading) void other.end(cause)
  }

  /** Ends all sessions of the feed, with imports. Resolves once they have ended. */
  async endFeed(feed: FeedKey, cause: SessionEnd): Promise<void> {
    const ending = this.#sessionsWhere((session) => session.identity?.feed === feed)
    await Promise.all(ending.map((session) => session.end(cause)))
  }

  /** Ends the sessions of hidden feeds: another ingest may purge them, and nothing may be written then. */
  endHidden(view: RegistryView): void {
    for (const session of this.#open) {
      const feed = session.identity?.feed
      if (feed === undefined || view.feed(feed)) continue
      void session.end(new SessionEnd('FAILED_PRECONDITION', `${feed} is no longer defined`))
    }
  }

  /** Ends all sessions; `isStopping`: and refuses further ones. */
  async endAll(cause: SessionEnd, { isStopping = false } = {}): Promise<void> {
    if (isStopping) this.#stopping = cause
    await Promise.all([...this.#open].map((session) => session.end(cause, { isStopping })))
  }

  #sessionsWhere(is: (session: OpenSession) => boolean): readonly OpenSession[] {
    return [...this.#open].filter(is)
  }
}

const full = (why: string): SessionEnd => new SessionEnd('RESOURCE_EXHAUSTED', why)
const textOf = (feeds: ReadonlySet<FeedKey>): string => [...feeds].sort().join(', ') || 'no feed'

/** The same collector after a reconnect. */
const isSame = (other: CollectorIdentity | undefined, identity: CollectorIdentity): boolean =>
  !identity.isImport &&
  other?.isImport === false &&
  other.feed === identity.feed &&
  other.collectorId === identity.collectorId
