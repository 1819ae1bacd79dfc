import { type Span, type Window, windowFromMin } from '../../core/bars/window.ts'
import { dateText } from '../../core/clocks/calendar.ts'
import { feedNow, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey, type FeedKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import { type Resolution, storedResolutions } from '../../core/feeds/resolution.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import { knownOffset } from '../../core/registry/clock-history.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Clock } from '../../ports/clock.ts'
import type { WindowStore } from '../../ports/windows.ts'
import type { RegistryWriter } from '../../registry/writer.ts'
import type { BackfilledRange } from '../../wire/gen/fxd/v1/BackfilledRange.ts'
import type { BackfillRequest__Output } from '../../wire/gen/fxd/v1/BackfillRequest.ts'
import { feedRecordOf } from './feeds.ts'
import { depthInParts } from './first-read.ts'
import { failedPrecondition, invalid, notFound } from './refusal.ts'

interface BackfillStores {
  readonly windows: WindowStore
  readonly writer: RegistryWriter
  readonly clock: Clock
}

/**
 * Withdraws the windows of a range. Then the ingest that has the session of the feed ends it, so that the next Known lacks
 * the range. Without any window in the range too: an earlier call may have failed between the two.
 */
export async function backfill(
  request: BackfillRequest__Output,
  view: RegistryView,
  { windows, writer, clock }: BackfillStores,
): Promise<BackfilledRange[]> {
  const { definition, hidden } = feedRecordOf(request.feed, view)
  const { key } = definition
  if (hidden) throw failedPrecondition(`${key} has no manifest any more: no collector sends its bars.`)
  const symbol = symbolOf(request.symbol, key, view)
  const span = spanOf(request)
  const wanted = resolutionsOf(request.resolutions, definition)
  const now = feedNow(clock.utcMs(), knownOffset(definition, view), undefined)
  const readable = wanted.map((resolution) => ({
    resolution,
    ...readablePart(span, resolution, definition, now),
  }))
  const left = readable.filter(({ from, to }) => from < to)
  if (left.length === 0) throw failedPrecondition(unreadable(definition, readable))
  const stored = await windows.of(key, undefined, symbol?.symbol)
  const others = symbol ? view.allSymbolsOf(key).filter((other) => other.symbol !== symbol.symbol) : []
  const ranges: BackfilledRange[] = []
  for (const { resolution, ...part } of left) {
    const touched = stored.filter(
      (window) => window.resolution === resolution && window.from < part.to && window.to > part.from,
    )
    if (touched.length === 0) continue
    await windows.withdraw({ feed: key, resolution, span: part, symbol: symbol?.symbol, others })
    ranges.push({ resolution, ...part, symbols: symbol ? 1 : symbolsIn(touched, view.symbolsOf(key)) })
  }
  await writer.change(() => ({
    rows: [{ kind: 'backfill', id: key, body: { requestedAt: clock.utcMs() } }],
    result: undefined,
  }))
  return ranges
}

function symbolOf(name: string, feed: FeedKey, view: RegistryView): SymbolRecord | undefined {
  if (name === '') return undefined
  const found = view.symbol(compoundKey(feed, name))
  if (found) return found
  const near = didYouMean(
    name,
    view.symbolsOf(feed).map((symbol) => symbol.name),
  )
  throw notFound(`${feed} has no symbol ${show(name)}${near}.`)
}

function spanOf({ from, to }: { readonly from: number; readonly to: number }): Span {
  if (from >= windowFromMin && from < to) return { from: feedSeconds(from), to: feedSeconds(to) }
  throw invalid(`from, to: got ${from}, ${to}, wanted a range after 1970 that ends after its start`)
}

function resolutionsOf(
  names: readonly string[],
  { key, resolutions }: FeedDefinition,
): readonly Resolution[] {
  const stored = storedResolutions.filter((r) => resolutions.includes(r))
  const other = names.find((name) => !stored.some((r) => r === name))
  if (other === undefined) return names.length === 0 ? stored : stored.filter((r) => names.includes(r))
  throw invalid(
    `resolution: got ${show(other)}, wanted one that ${key} stores: ${stored.join(', ')}${didYouMean(other, stored)}`,
  )
}

/** What no collector sends again: its windows would be gone for good. */
function readablePart(span: Span, r: Resolution, definition: FeedDefinition, now: number | undefined): Span {
  const { key, earliest = 0, retention } = definition
  const depth = depthInParts(definition)?.[r]
  const ages = [retention[r], depth && 'seconds' in depth ? depth.seconds : undefined].filter(
    (age) => age !== undefined,
  )
  if (ages.length > 0 && now === undefined)
    throw failedPrecondition(
      `The clock of ${key} is not known yet: what its collector can read again is not known either. Repeat this later.`,
    )
  const starts = ages.map((age) => (now ?? 0) - age)
  const since = depth && 'since' in depth ? depth.since : 0
  return { from: feedSeconds(Math.max(span.from, earliest, since, ...starts)), to: span.to }
}

function unreadable({ key }: FeedDefinition, parts: readonly (Span & { resolution: Resolution })[]): string {
  const starts = parts.map(({ resolution, from }) => `${resolution} from ${dateText(from)}`)
  return (
    `The collector of ${key} sends nothing in this range: it reads ${starts.join(', ')} on, as spec.depth, ` +
    'spec.retention and spec.earliest of the Feed manifest say.'
  )
}

/** The number of symbols that these windows cover. */
function symbolsIn(windows: readonly Window[], symbols: readonly SymbolRecord[]): number {
  const own = new Set(windows.map(({ symbol }) => symbol))
  const ends = windows.flatMap(({ symbol, to }) => (symbol === undefined ? [to] : []))
  const covers = ({ symbol, since }: SymbolRecord): boolean =>
    own.has(symbol) || (since !== undefined && ends.some((to) => to > since))
  return symbols.filter(covers).length
}
