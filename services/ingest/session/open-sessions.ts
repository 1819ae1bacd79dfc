import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/feeds/registry.ts'
import type { Access } from '../credentials/access.ts'
import { SessionEnd } from '../session-end.ts'
import type { Introduced } from './hello.ts'

/** Of all connections together. A feed needs one, an import one more. */
const sessionsMax = 1_024
/** Of one feed, imports and those that stand by included: what one feed's credential opens leaves room for the others. */
export const sessionsPerFeedMax = 32

/** A session as the others see it. */
interface OpenSession {
  /** `undefined` until its Hello was accepted. */
  readonly who: Introduced | undefined
  readonly access: Access
  end(cause?: unknown): Promise<void>
}

/** The sessions of this process. */
export class OpenSessions {
  readonly #open = new Set<OpenSession>()

  /** Why no more is taken of whoever may do this; before it has said which feed it means. */
  refusal({ feeds }: Access): SessionEnd | undefined {
    if (this.#open.size >= sessionsMax) return full(`more than ${sessionsMax} sessions are open`)
    if (feeds === 'all') return undefined
    const scope = textOf(feeds)
    // One that may push nothing hears of it at its Hello.
    const wanted = sessionsPerFeedMax * Math.max(1, feeds.size)
    const open = this.#where(({ access }) => access.feeds !== 'all' && textOf(access.feeds) === scope)
    return open.length < wanted
      ? undefined
      : full(`credentials for ${scope} have ${open.length} sessions open, wanted at most ${wanted}`)
  }

  /** Why the feed takes no more; those that this one replaces do not count. */
  refusalOf(session: OpenSession, who: Introduced): SessionEnd | undefined {
    const open = this.#where(
      (other) => other !== session && other.who?.feed === who.feed && !isSame(other.who, who),
    )
    return open.length < sessionsPerFeedMax
      ? undefined
      : full(`${who.feed} has ${open.length} sessions open, wanted at most ${sessionsPerFeedMax}`)
  }

  add(session: OpenSession): void {
    this.#open.add(session)
  }

  remove(session: OpenSession): void {
    this.#open.delete(session)
  }

  /** A collector that comes back before its old connection was found dead need not stand by behind itself. */
  async replace(session: OpenSession, who: Introduced): Promise<void> {
    const old = this.#where((other) => other !== session && isSame(other.who, who))
    const why = new SessionEnd('ABORTED', 'a newer session of the same collector took over')
    await Promise.all(old.map((other) => other.end(why)))
  }

  /** Resolves once nothing of them is left, imports included. */
  async endFeed(feed: FeedKey, cause: SessionEnd): Promise<void> {
    const ending = this.#where((session) => session.who?.feed === feed)
    await Promise.all(ending.map((session) => session.end(cause)))
  }

  /** Of feeds that are hidden now: another ingest may purge them soon, and nothing of them may be written then. */
  endHidden(view: RegistryView): void {
    for (const session of this.#open) {
      const feed = session.who?.feed
      if (feed === undefined || view.feed(feed)) continue
      void session.end(new SessionEnd('FAILED_PRECONDITION', `${feed} is no longer defined`))
    }
  }

  async endAll(cause: SessionEnd): Promise<void> {
    await Promise.all([...this.#open].map((session) => session.end(cause)))
  }

  #where(is: (session: OpenSession) => boolean): readonly OpenSession[] {
    return [...this.#open].filter(is)
  }
}

const full = (why: string): SessionEnd => new SessionEnd('RESOURCE_EXHAUSTED', why)
const textOf = (feeds: ReadonlySet<FeedKey>): string => [...feeds].sort().join(', ') || 'no feed'

/** The same collector, come back. */
const isSame = (other: Introduced | undefined, who: Introduced): boolean =>
  !who.isImport &&
  other?.isImport === false &&
  other.feed === who.feed &&
  other.collectorId === who.collectorId
