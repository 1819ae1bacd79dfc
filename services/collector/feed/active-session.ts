import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { finestFirst, type Resolution } from '../../core/feeds/resolution.ts'
import type { CataloguedName__Output } from '../../wire/gen/fxd/v1/CataloguedName.ts'
import type { Greeting } from '../connection/session-client.ts'
import { CollectedSeries } from '../series/collected-series.ts'
import { KnownFeed } from '../series/known-feed.ts'
import { rawSeriesId } from '../series/series-id.ts'
import type { Listing, SourceSymbol } from '../source.ts'
import type { Collection } from './collection.ts'
import type { CollectionDeps } from './collection-deps.ts'
import { type SourceCatalogue, toWire } from './source-catalogue.ts'

type SeriesDeps = 'definition' | 'source' | 'bars' | 'time' | 'client' | 'spool' | 'log' | 'signal'

export interface ActiveSessionDeps extends Pick<CollectionDeps, SeriesDeps> {
  readonly greeting: Greeting
  readonly catalogue: SourceCatalogue
  /** Called once ingest knows the symbols. */
  readonly startCollection: () => Collection
}

/** A session that ingest accepted as the active one: keeps the collected series equal to ingest's catalogue. */
export class ActiveSession {
  /** Exists once ingest knows the symbols. */
  collection: Collection | undefined
  readonly #deps: ActiveSessionDeps
  readonly #known: KnownFeed
  #pending: Promise<void> = Promise.resolve()

  constructor(deps: ActiveSessionDeps) {
    this.#deps = deps
    this.#known = new KnownFeed(deps.greeting.known)
    this.list(deps.catalogue.all, { snapshot: true })
  }

  /** An empty snapshot means that the source has not listed its symbols yet, so none is removed. */
  list(symbols: readonly SourceSymbol[], { snapshot }: Listing): void {
    const { client, log, signal } = this.#deps
    const listing = { snapshot: snapshot && symbols.length > 0 }
    this.#pending = this.#pending
      .then(() => client.catalogue(symbols.map(toWire), listing))
      .then(({ names, refused }) => {
        if (signal.aborted) return
        if (refused.length > 0)
          log.warn({ refused: refused.slice(0, 20), count: refused.length }, 'symbols rejected by ingest')
        this.#collect(names, listing)
      })
      .catch((cause: unknown) => this.#fail(cause))
  }

  /** Ignores failures after the session's end: the next session lists all symbols. Others end the session. */
  #fail(cause: unknown): void {
    const { client, log, signal } = this.#deps
    if (signal.aborted) return
    log.error({ err: cause }, 'failed to collect symbols; retrying in a new session')
    client.cancel()
  }

  #collect(names: readonly CataloguedName__Output[], { snapshot }: Listing): void {
    const { bars } = this.#deps
    const collection = this.collection ?? this.#deps.startCollection()
    const before = this.collection ? undefined : bars.begin((routed) => collection.sendNow(routed))
    this.collection = collection
    const listed = new Set(names.map(({ raw }) => raw))
    if (snapshot) for (const series of bars.all) if (!listed.has(series.raw)) bars.drop(series)
    const added = names.flatMap((name) => this.#seriesOf(name))
    const fresh = added.filter((series) => !isSame(series, bars.get(series)))
    for (const series of fresh) this.#continue(series, before?.get(rawSeriesId(series)))
    collection.begin(fresh.sort((a, b) => finestFirst(a.resolution, b.resolution)))
  }

  /** Continues a series that is unchanged since the last session, unless its source is read as a whole. */
  #continue(series: CollectedSeries, before: CollectedSeries | undefined): void {
    const { source, time } = this.#deps
    const now = time.now()
    const isKept = before?.name === series.name && isSame(series, before)
    if (isKept && now !== undefined && source.capabilities.reads === 'pieces') series.continue(before, now)
  }

  #seriesOf({ raw, symbol, digits, delaySeconds, since }: CataloguedName__Output): CollectedSeries[] {
    const { definition, greeting, catalogue, time } = this.#deps
    const scale = digits + (greeting.welcome.midQuoted ? 1 : 0)
    const from: FeedSeconds | undefined = since === undefined ? undefined : feedSeconds(since)
    const resolutions = catalogue.get(raw)?.resolutions ?? []
    return resolutions
      .filter((r) => r !== '30' && definition.resolutions.includes(r))
      .map(
        (resolution) =>
          new CollectedSeries(
            { raw, resolution, name: symbol, scale, delaySeconds, since: from },
            this.#known,
            time.now(),
            this.#spooledUntil(symbol, resolution),
          ),
      )
  }

  /** Time of the newest spooled live bar. One ahead of the clock does not count, since ingest will reject it. */
  #spooledUntil(symbol: string, resolution: Resolution): FeedSeconds | undefined {
    const { spool, time } = this.#deps
    const until = spool?.until(symbol, resolution)
    return until !== undefined && time.isAhead(until) ? undefined : until
  }
}

/** A series whose scale or delay changed is collected again from the start. */
const isSame = (series: CollectedSeries, before: CollectedSeries | undefined): boolean =>
  before?.scale === series.scale && before.delaySeconds === series.delaySeconds
