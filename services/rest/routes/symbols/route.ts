import { grantedFeeds } from '../../../access/grant.ts'
import type { FairTurns } from '../../fair-turns.ts'
import { mustFindSymbol } from '../../found.ts'
import type { Call, Route } from '../../route.ts'
import { symbolDetail, symbolEntry } from '../../symbol-view.ts'
import { symbolsSchema } from './schema.ts'

export function createSymbolsRoute(turns: FairTurns): Route<typeof symbolsSchema.query> {
  return {
    schema: symbolsSchema,
    async handle({ symbol, search, limit, offset }, call) {
      if (symbol !== undefined) {
        const found = mustFindSymbol(symbol, call.key, call.view)
        return symbolDetail(found.symbol, found.feed)
      }
      await turns.enter(call.reader)
      const matching = matchingSymbols(search ?? '', call)
      const page = matching.slice(offset, offset + limit)
      return {
        symbols: page.map(({ record, feed }) => symbolEntry(record, feed)),
        total: matching.length,
        limit,
        offset,
      }
    },
  }
}

/**
 * Sorted by compound key. Feeds and their symbols are sorted, but symbols of `A:B` and `A:B0` interleave. Names are
 * compared by the simple case folding of Unicode. The upper case of `ß` would be `SS`. The lower case of the Greek
 * sigma depends on its place in the word.
 */
function matchingSymbols(search: string, { key, view }: Call) {
  const fragment = new RegExp(RegExp.escape(search), 'iu')
  return grantedFeeds(key, view)
    .flatMap((feed) =>
      view
        .symbolsOf(feed.key)
        .filter((record) => fragment.test(record.display))
        .map((record) => ({ record, feed })),
    )
    .sort((a, b) => (a.record.symbol < b.record.symbol ? -1 : 1))
}
