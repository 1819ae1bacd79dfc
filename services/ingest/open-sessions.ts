import type { FeedKey } from '../core/compound-key.ts'
import type { RegistryView } from '../core/registry.ts'
import type { Introduced } from './hello.ts'
import { SessionEnd } from './refuse-session.ts'
import type { CollectorSession } from './session.ts'

/** Of all connections together. A feed needs one, an import one more. */
export const sessionsMax = 1_024

/** The sessions of this process. */
export class OpenSessions {
  readonly #open = new Set<CollectorSession>()

  get isFull(): boolean {
    return this.#open.size >= sessionsMax
  }

  add(session: CollectorSession): void {
    this.#open.add(session)
  }

  remove(session: CollectorSession): void {
    this.#open.delete(session)
  }

  /** A collector that comes back before its old connection was found dead need not stand by behind itself. */
  async replace(session: CollectorSession, who: Introduced): Promise<void> {
    const old = [...this.#open].filter(
      (other) =>
        other !== session &&
        other.who?.isImport === false &&
        other.who.feed === who.feed &&
        other.who.collectorId === who.collectorId,
    )
    const why = new SessionEnd('ABORTED', 'a newer session of the same collector took over')
    await Promise.all(old.map((other) => other.end(why)))
  }

  /** Resolves once nothing of them is left, imports included. */
  async endFeed(feed: FeedKey, cause: SessionEnd): Promise<void> {
    const ending = [...this.#open].filter((session) => session.who?.feed === feed)
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
}
