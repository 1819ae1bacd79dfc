import { grantedFeeds } from '../../../access/grant.ts'
import type { Range } from '../../../bars/coverage.ts'
import type { Reader } from '../../../core/fair-queue.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { RestDeps } from '../../deps.ts'
import { type FoundSymbol, mustFindSymbol } from '../../found.ts'
import type { Call, Route } from '../../route.ts'
import { coverageSchema } from './schema.ts'

/** Maximum symbols of one request whose coverage is read at once. */
const concurrencyMax = 8

export function createCoverageRoute({
  coverage,
}: Pick<RestDeps, 'coverage'>): Route<typeof coverageSchema.query> {
  const ofAll = async ({ key, view, deadline, reader }: Call) => {
    // A symbol may be called __proto__: entries become own properties, assignments would not.
    const entries: [string, readonly Range[]][] = []
    const ofFeed = async (feed: FeedDefinition): Promise<void> => {
      const of = await coverage.ofFeed(feed, reader)
      const symbols = view.symbolsOf(feed.key)
      const start = entries.length
      for (const { symbol } of symbols) entries.push([symbol, []])
      const waiting = symbols.entries()
      const readNext = async (): Promise<void> => {
        for (const [i, symbol] of waiting) {
          if (deadline.ended) return
          entries[start + i] = [symbol.symbol, await of(symbol)]
        }
      }
      await Promise.all(Array.from({ length: concurrencyMax }, readNext))
    }
    for (const feed of grantedFeeds(key, view)) await ofFeed(feed)
    return { coverage: Object.fromEntries(entries) }
  }
  const ofOne = async ({ feed, symbol }: FoundSymbol, reader: Reader) => ({
    symbol: symbol.symbol,
    coverage: await (await coverage.ofFeed(feed, reader))(symbol),
  })
  return {
    schema: coverageSchema,
    handle: ({ symbol }, call) =>
      symbol === undefined ? ofAll(call) : ofOne(mustFindSymbol(symbol, call.key, call.view), call.reader),
  }
}
