import { newestByOpen } from '../../core/bars/newest-bar.ts'
import { knownClock } from '../../core/clocks/clock-history.ts'
import { feedNow } from '../../core/clocks/feed-clock.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition, FeedRecord } from '../../core/feeds/feed.ts'
import { ageSeconds, type FeedStatus, feedStatus } from '../../core/feeds/feed-status.ts'
import type { RegistryView } from '../../core/feeds/registry.ts'
import { definitionToManifest } from '../../core/manifest/write.ts'
import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedBoard, FeedLiveness } from '../../ports/feed-board.ts'
import type { WindowStore } from '../../ports/windows.ts'
import type { Feed } from '../../wire/gen/fxd/v1/Feed.ts'
import { partBytesMax } from '../../wire/limits.ts'
import { type FirstRead, type FirstReadFacts, firstReads } from './first-read.ts'
import { feedMessage, page } from './messages.ts'
import { forbiddenByState, notFound } from './refusal.ts'

export interface FeedStores {
  readonly bars: BarStore
  readonly windows: WindowStore
  readonly board: FeedBoard
  readonly clock: Clock
  /** Ends the sessions of a hidden feed. This process writes nothing of the feed afterwards. */
  endFeed(feed: FeedKey): Promise<void>
}

/** A page of all feeds, with hidden ones, without definitions and symbols. */
export async function listFeeds(
  request: { readonly after: string },
  view: RegistryView,
  stores: FeedStores,
): Promise<{ readonly feeds: Feed[]; readonly next: string }> {
  // By the size of whole definitions, which is more than is sent: it also limits the reads of the store.
  const { items, next } = page(view.allFeeds(), request.after, (feed) => feed.definition.key, partBytesMax)
  const signs = await signsOf(
    items.map((feed) => feed.definition.key),
    stores.board,
  )
  const feeds: Feed[] = []
  for (const feed of items) {
    const status = await statusOf(feed.definition, signs.get(feed.definition.key) ?? {}, view, stores)
    feeds.push(feedMessage(feed, status, view.versionOf(feed.definition.key)))
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
  const signs = (await signsOf([key], stores.board)).get(key) ?? {}
  const symbols = shownSymbols(key, view)
  const shown = page(symbols, request.afterSymbol, (symbol) => symbol, partBytesMax)
  const firstRead = firstReads(await firstReadFacts(feed.definition, view, stores))
  const symbolsWith = (wanted: FirstRead): string[] =>
    shown.items.filter((symbol) => firstRead({ symbol }) === wanted)
  return {
    ...feedMessage(feed, await statusOf(feed.definition, signs, view, stores), view.versionOf(key)),
    definitionJson: JSON.stringify(definitionToManifest(feed.definition)),
    symbols: [...shown.items],
    nextSymbol: shown.next,
    reading: symbolsWith('reading'),
    withoutBars: symbolsWith('none'),
  }
}

/** Liveness of the feeds; empty while the feed board is unavailable: such a feed is shown as offline. */
const signsOf = (keys: readonly FeedKey[], board: FeedBoard): ReturnType<FeedBoard['read']> =>
  board.read(keys).catch(() => new Map())

/** A simulator is read in parts back to its depth, files are read whole, and a pushing client decides itself. */
async function firstReadFacts(
  definition: FeedDefinition,
  view: RegistryView,
  { bars, windows, clock }: FeedStores,
): Promise<FirstReadFacts> {
  const known = knownClock(definition, view.clocksOf(definition.key))
  return {
    windows: await windows.of(definition.key),
    newest: await bars.lastTimes(definition.key),
    depth: definition.source.type === 'Simulator' ? definition.depth : undefined,
    feedNow: feedNow(clock.utcMs(), known?.offsetSeconds, undefined),
  }
}

/** Removes the bars and windows of a hidden feed. Resolves with the number of series that had bars. */
export async function purgeFeed(key: string, view: RegistryView, stores: FeedStores): Promise<number> {
  const feed = feedRecordOf(key, view)
  if (!feed.hidden) {
    throw forbiddenByState(
      `${key} is still defined by a Feed manifest; take it out of the manifests first, then purge it.`,
    )
  }
  await stores.endFeed(feed.definition.key)
  const series = await stores.bars.lastTimes(feed.definition.key)
  // Windows first: a window without bars would be false coverage.
  await stores.windows.purge(feed.definition.key)
  await stores.bars.purge(feed.definition.key)
  return series.size
}

export function feedRecordOf(key: string, view: RegistryView): FeedRecord {
  const found = view.feedRecords.get(key)
  if (found) return found
  const known = view.allFeeds().map((feed) => feed.definition.key)
  throw notFound(`There is no feed ${show(key)}${didYouMean(key, known)}.`)
}

/** The shown symbols; of a hidden feed those that it would show. */
const shownSymbols = (feed: FeedKey, view: RegistryView): readonly CompoundKey[] =>
  view.allSymbolsOf(feed).flatMap((symbol) => (symbol.hidden ? [] : [symbol.symbol]))

async function statusOf(
  definition: FeedDefinition,
  signs: FeedLiveness,
  view: RegistryView,
  { bars, clock }: FeedStores,
): Promise<FeedStatus> {
  const now = clock.utcMs()
  const known = knownClock(definition, view.clocksOf(definition.key))
  return feedStatus({
    definition,
    signs,
    now,
    offsetSeconds: known?.offsetSeconds,
    offsetAgeSeconds: ageSeconds(now, known?.measuredAt),
    newestStored: newestByOpen(await bars.lastTimes(definition.key, { reader: serviceReader('registry') })),
    symbolCount: shownSymbols(definition.key, view).length,
  })
}
