import { grantedFeeds } from '../../../access/grant.ts'
import type { Reader } from '../../../core/fair-queue.ts'
import type { JsonText } from '../../answer.ts'
import type { RestDeps } from '../../deps.ts'
import { type FoundSymbol, mustFindSymbol } from '../../found.ts'
import type { Call, Route } from '../../route.ts'
import { FeedTexts } from './feed-text.ts'
import { coverageSchema } from './schema.ts'

export function createCoverageRoute({ coverage }: RestDeps): Route<typeof coverageSchema.query> {
  const texts = new FeedTexts(coverage)
  const ofAll = async (call: Call): Promise<JsonText> => {
    const members: string[] = []
    for (const feed of grantedFeeds(call.key, call.view)) {
      for (const member of await texts.of(feed, call)) members.push(member)
    }
    return { pieces: [Buffer.from(`{"coverage":{${members.join(',')}}}`)] }
  }
  const ofOne = async ({ feed, symbol }: FoundSymbol, reader: Reader) => ({
    symbol: symbol.symbol,
    coverage: await coverage.ofSymbol(symbol, feed, reader),
  })
  return {
    schema: coverageSchema,
    handle: ({ symbol }, call) =>
      symbol === undefined ? ofAll(call) : ofOne(mustFindSymbol(symbol, call.key, call.view), call.reader),
  }
}
