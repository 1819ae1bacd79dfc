import { grantedFeeds } from '../../../access/grant.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { JsonText } from '../../answer.ts'
import type { RestDeps } from '../../deps.ts'
import { type FoundSymbol, mustFindSymbol } from '../../found.ts'
import type { Call, Route } from '../../route.ts'
import { FeedTexts } from './feed-text.ts'
import { coverageSchema } from './schema.ts'

export function createCoverageRoute({ coverage }: RestDeps): Route<typeof coverageSchema.query> {
  const texts = new FeedTexts(coverage)
  const ofAll = async (resolution: Resolution | undefined, call: Call): Promise<JsonText> => {
    const members: string[] = []
    for (const feed of grantedFeeds(call.key, call.view)) {
      for (const member of await texts.of(feed, resolution, call)) members.push(member)
    }
    return { pieces: [Buffer.from(`{"coverage":{${members.join(',')}}}`)] }
  }
  const ofOne = async (
    { feed, symbol }: FoundSymbol,
    resolution: Resolution | undefined,
    { reader }: Call,
  ) => ({
    symbol: symbol.symbol,
    coverage: await coverage.ofSymbol(symbol, { feed, reader, resolution }),
  })
  return {
    schema: coverageSchema,
    handle: ({ symbol, resolution }, call) =>
      symbol === undefined
        ? ofAll(resolution, call)
        : ofOne(mustFindSymbol(symbol, call.key, call.view), resolution, call),
  }
}
