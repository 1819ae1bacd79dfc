import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { finestFirst } from '../../core/feeds/resolution.ts'
import type { CataloguedName__Output } from '../../wire/gen/fxd/v1/CataloguedName.ts'
import type { Greeting } from '../connection/session-client.ts'
import { type CollectedSeries, goOn, KnownFeed, newSeries } from '../series/collected-series.ts'
import type { Listing, SourceSymbol } from '../sources/source.ts'
import { Collection, type CollectionDeps } from './collection.ts'
import { type SourceCatalogue, toWire } from './source-catalogue.ts'

export interface ActiveSessionDeps extends CollectionDeps {
  readonly greeting: Greeting
  readonly catalogue: SourceCatalogue
  /** What was kept since the last session is kept here from now on; gives the series it goes on with. */
  readonly takeOver: () => readonly CollectedSeries[]
}

/** A session that was welcomed as the active one: keeps ingest's catalogue and the collected series in step. */
export class ActiveSession {
  readonly collection: Collection
  readonly #deps: ActiveSessionDeps
  readonly #known: KnownFeed
  #inStep: Promise<void> = Promise.resolve()

  constructor(deps: ActiveSessionDeps) {
    this.#deps = deps
    this.#known = new KnownFeed(deps.greeting.known)
    this.collection = new Collection(deps)
    this.list(deps.catalogue.all, { snapshot: true })
  }

  /** A source that has no symbols at all has not looked yet: it takes none away. */
  list(symbols: readonly SourceSymbol[], { snapshot }: Listing): void {
    const { talk, log, takeOver } = this.#deps
    const hasLooked = symbols.length > 0
    this.#inStep = this.#inStep
      .then(() => talk.catalogue(symbols.map(toWire), { snapshot: snapshot && hasLooked }))
      .then(({ names, refused }) => {
        if (refused.length > 0)
          log.warn({ refused: refused.slice(0, 20), count: refused.length }, 'symbols were refused')
        const before = takeOver()
        this.collection.sendSpooled()
        if (hasLooked) this.#collect(names, { snapshot }, before)
      })
      .catch((cause: unknown) => this.#fail(cause))
  }

  /** The session is over, and the next one lists everything anew; or what failed is a defect, which ends it. */
  #fail(cause: unknown): void {
    const { talk, log, signal } = this.#deps
    if (signal.aborted || talk.isOver) return
    log.error({ err: cause }, 'symbols could not be collected: beginning anew')
    talk.cancel()
  }

  #collect(
    names: readonly CataloguedName__Output[],
    { snapshot }: Listing,
    before: readonly CollectedSeries[],
  ): void {
    const listed = new Set(names.map(({ raw }) => raw))
    if (snapshot) this.collection.drop((raw) => !listed.has(raw))
    const added = names.flatMap((name) => this.#seriesOf(name))
    const fresh = added.filter((series) => !isSame(series, this.collection.get(series)))
    const going = fresh.map((series) => this.#goOn(series, before))
    this.collection.begin(going.sort((a, b) => finestFirst(a.resolution, b.resolution)))
  }

  /** A source that is read as a whole anyway is read to the end first. */
  #goOn(series: CollectedSeries, before: readonly CollectedSeries[]): CollectedSeries {
    const { source, time } = this.#deps
    const now = time.now()
    const { raw, resolution, name } = series
    const same = before.find((each) => each.raw === raw && each.resolution === resolution)
    const isKept = same?.name === name && isSame(series, same) && source.capabilities.reads === 'pieces'
    return isKept && now !== undefined ? goOn(series, same, now) : series
  }

  #seriesOf({ raw, symbol, digits, delaySeconds, since }: CataloguedName__Output): CollectedSeries[] {
    const { definition, greeting, catalogue, time, spool } = this.#deps
    const scale = digits + (greeting.welcome.midQuoted ? 1 : 0)
    const from: FeedSeconds | undefined = since === undefined ? undefined : feedSeconds(since)
    const resolutions = catalogue.get(raw)?.resolutions ?? []
    return resolutions
      .filter((r) => r !== '30' && definition.resolutions.includes(r))
      .map((resolution) =>
        newSeries(
          { raw, resolution, name: symbol, scale, delaySeconds, since: from },
          this.#known,
          time.now(),
          spool?.until(symbol, resolution),
        ),
      )
  }
}

/** Of another scale or delay it is collected anew. */
const isSame = (series: CollectedSeries, before: CollectedSeries | undefined): boolean =>
  before?.scale === series.scale && before.delaySeconds === series.delaySeconds
