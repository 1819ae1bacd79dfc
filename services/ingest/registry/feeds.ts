import { newestByOpen } from '../../core/bars/newest-bar.ts'
import type { Window } from '../../core/bars/window.ts'
import { feedNow } from '../../core/clocks/feed-clock.ts'
import { TableOutOfOrder, Unavailable, Unfinished } from '../../core/failure.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition, FeedRecord } from '../../core/feeds/feed.ts'
import { ageSeconds, type FeedStatus, feedStatus } from '../../core/feeds/feed-status.ts'
import { definitionToManifest } from '../../core/manifest/write.ts'
import { knownClock } from '../../core/registry/clock-history.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedBoard, FeedLiveness } from '../../ports/feed-board.ts'
import type { WindowStore } from '../../ports/windows.ts'
import type { Feed } from '../../wire/gen/fxd/v1/Feed.ts'
import type { SeriesWindows } from '../../wire/gen/fxd/v1/SeriesWindows.ts'
import type { FeedStates } from '../feed/feed-state.ts'
import { manyWindows, separateWindows } from '../feed/separate-windows.ts'
import { type LeadDeps, lead } from '../session/lead.ts'
import { depthInParts, type FirstRead, type FirstReadFacts, firstReads, startsOf } from './first-read.ts'
import { feedMessage, page } from './messages.ts'
import { failedPrecondition, notFound } from './refusal.ts'
import { resolutionsWithoutBars } from './resolutions-without-bars.ts'

/** Maximum wait of a purge for the end of a session at another ingest. */
const leaseWaitMs = 5_000

export interface FeedStores {
  readonly bars: BarStore
  readonly windows: WindowStore
  readonly board: FeedBoard
  readonly clock: Clock
  readonly states: Pick<FeedStates, 'of'>
  /** Ends the sessions of a hidden feed. This process writes nothing of the feed afterwards. */
  endFeed(feed: FeedKey): Promise<void>
}

/** A page of all feeds, with hidden ones, without definitions and symbols. */
export async function listFeeds(
  request: { readonly after: string },
  view: RegistryView,
  stores: FeedStores,
): Promise<{ readonly feeds: Feed[]; readonly next: string }> {
  // The limit of a page counts whole definitions. The answer is smaller, but the limit bounds the reads too.
  const { items, next } = page(view.allFeeds(), request.after, (feed) => feed.definition.key)
  const keys = items.map((feed) => feed.definition.key)
  const liveness = await livenessOf(keys, stores.board)
  const feeds: Feed[] = []
  for (const feed of items) {
    const { key } = feed.definition
    const newest = await newestOf(key, stores.bars)
    const status = statusOf(feed.definition, liveness.get(key) ?? {}, newest, view, stores.clock)
    feeds.push(feedMessage(feed, status, view.versionOf(key)))
  }
  return { feeds, next }
}

export async function getFeed(
  request: { readonly key: string; readonly afterSymbol: string },
  view: RegistryView,
  stores: FeedStores,
): Promise<Feed> {
  const feed = feedRecordOf(request.key, view)
  const { key } = feed.definition
  const liveness = (await livenessOf([key], stores.board)).get(key) ?? {}
  const symbols = shownSymbols(key, view)
  const shown = page(symbols, request.afterSymbol, (symbol) => symbol)
  const facts = await firstReadFacts(feed.definition, view, stores)
  const firstRead = firstReads(facts)
  const status = statusOf(feed.definition, liveness, facts.newest, view, stores.clock)
  const terminalIdentity = view.terminals.get(key)
  const { rejectedLines, readjustedSymbols, readjustmentsHeld = false } = stores.states.of(key)?.said ?? {}
  const symbolsWith = (wanted: FirstRead): string[] =>
    shown.items.filter((symbol) => firstRead({ symbol }) === wanted)
  return {
    ...feedMessage(feed, status, view.versionOf(key)),
    definitionJson: JSON.stringify(definitionToManifest(feed.definition)),
    symbols: [...shown.items],
    nextSymbol: shown.next,
    reading: symbolsWith('reading'),
    withoutBars: symbolsWith('none'),
    resolutionsWithoutBars: resolutionsWithoutBars(shown.items, feed.definition.resolutions, facts.newest),
    manyWindows: manyWindowsOf(facts.windows, view, request.afterSymbol === '', new Set(shown.items)),
    ...(rejectedLines !== undefined && { rejectedLines }),
    ...(terminalIdentity !== undefined && { terminalIdentity }),
    ...(readjustedSymbols !== undefined && { readjustedSymbols }),
    readjustmentsHeld,
  }
}

/** The series of the page with many separate windows; on the first page also the windows of all symbols. */
function manyWindowsOf(
  windows: readonly Window[],
  view: RegistryView,
  isFirst: boolean,
  shown: ReadonlySet<CompoundKey>,
): SeriesWindows[] {
  const series = separateWindows(windows, (symbol) => view.symbol(symbol)?.since)
  return [...series.values()].flatMap(({ symbol, resolution, spans }) =>
    spans.length > manyWindows && (symbol === undefined ? isFirst : shown.has(symbol))
      ? [{ symbol: symbol ?? '', resolution, count: spans.length }]
      : [],
  )
}

/** Liveness of the feeds; empty while the feed board is unavailable: such a feed is shown as offline. */
const livenessOf = (keys: readonly FeedKey[], board: FeedBoard): ReturnType<FeedBoard['read']> =>
  board.read(keys).catch(() => new Map())

/** A feed whose table of windows is out of order is shown without them; its status and `fxd doctor` tell of the table. */
function noneOutOfOrder(cause: unknown): readonly Window[] {
  if (cause instanceof TableOutOfOrder) return []
  throw cause
}

async function firstReadFacts(
  definition: FeedDefinition,
  view: RegistryView,
  { bars, windows, clock }: FeedStores,
): Promise<FirstReadFacts & { readonly windows: readonly Window[] }> {
  const known = knownClock(definition, view.clocksOf(definition.key))
  const acknowledged = await windows.of(definition.key).catch(noneOutOfOrder)
  return {
    windows: acknowledged,
    startOf: startsOf(acknowledged),
    newest: await newestOf(definition.key, bars),
    depth: depthInParts(definition),
    feedNow: feedNow(clock.utcMs(), known?.offsetSeconds, undefined),
  }
}

/**
 * Removes the bars, windows and liveness of a hidden feed. Resolves with the number of series that had bars. Rejects with
 * `Unfinished` while a session at another ingest still ends. A live session that begins before that end waits.
 */
export async function purgeFeed(
  key: string,
  view: RegistryView,
  stores: FeedStores & LeaseDeps,
): Promise<number> {
  const feed = hiddenFeed(key, view)
  await stores.endFeed(feed)
  return withLease(feed, stores, async () => {
    // The feed may have been defined again during the wait.
    hiddenFeed(key, view)
    const series = await stores.bars.lastTimes(feed, { isPartial: true })
    // The windows are purged first, because a window without its bars would be false coverage.
    await stores.windows.purge(feed)
    await stores.bars.purge(feed)
    // Imports, and sessions that end after their lease expired, may have added liveness and windows.
    await stores.windows.purge(feed)
    await stores.board.forget(feed)
    return series.size
  })
}

function hiddenFeed(key: string, view: RegistryView): FeedKey {
  const feed = feedRecordOf(key, view)
  if (feed.hidden) return feed.definition.key
  throw failedPrecondition(
    `${key} is still defined by a Feed manifest; take it out of the manifests first, then purge it.`,
  )
}

type LeaseDeps = Pick<LeadDeps, 'leases' | 'clock' | 'log'>

/** Runs `act` while no live session of the feed can begin at any ingest. */
async function withLease<T>(feed: FeedKey, deps: LeaseDeps, act: () => Promise<T>): Promise<T> {
  const ending = new AbortController()
  let reason: Unavailable = new Unavailable('lease store')
  const leadership = lead({
    ...deps,
    feed,
    holder: `purge ${deps.clock.randomHex(8)}`,
    signal: ending.signal,
    onTaken() {
      const text = `${feed} is not purged: a session at another ingest has not ended. Run the purge again.`
      reason = new Unfinished('lease store', text)
    },
  })
  const cancelEnd = deps.clock.after(leaseWaitMs, () => ending.abort())
  try {
    if ((await leadership.granted) === undefined) throw reason
    cancelEnd()
    return await act()
  } finally {
    ending.abort()
    await leadership.release()
  }
}

export function feedRecordOf(key: string, view: RegistryView): FeedRecord {
  const found = view.feedRecords.get(key)
  if (found) return found
  const known = view.allFeeds().map((feed) => feed.definition.key)
  throw notFound(`There is no feed ${show(key)}${didYouMean(key, known)}.`)
}

/** The shown symbols, sorted; of a hidden feed those that it would show. */
const shownSymbols = (feed: FeedKey, view: RegistryView): readonly CompoundKey[] =>
  view
    .allSymbolsOf(feed)
    .flatMap((symbol) => (symbol.hidden ? [] : [symbol.symbol]))
    .sort()

/** The newest stored time of each series, without series whose table is out of order. */
const newestOf = (feed: FeedKey, bars: BarStore): ReturnType<BarStore['lastTimes']> =>
  bars.lastTimes(feed, { reader: serviceReader('registry'), isPartial: true })

function statusOf(
  definition: FeedDefinition,
  liveness: FeedLiveness,
  newest: FirstReadFacts['newest'],
  view: RegistryView,
  clock: Clock,
): FeedStatus {
  const now = clock.utcMs()
  const known = knownClock(definition, view.clocksOf(definition.key))
  return feedStatus({
    definition,
    liveness,
    now,
    offsetSeconds: known?.offsetSeconds,
    offsetAgeSeconds: ageSeconds(now, known?.measuredAt),
    newestStored: newestByOpen(newest),
    symbolCount: shownSymbols(definition.key, view).length,
  })
}
