import fc from 'fast-check'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { feedKey } from '../../../services/core/feeds/compound-key.ts'
import type { FeedDefinition, ListedSymbol } from '../../../services/core/feeds/feed.ts'
import { finestFirst, type Resolution, resolutions } from '../../../services/core/feeds/resolution.ts'
import { sessions, symbolTypes } from '../../../services/core/feeds/symbol.ts'

const words = fc.string({ minLength: 1, maxLength: 40 })
const keyPart = fc.stringMatching(/^[A-Z][A-Z0-9]{0,9}$/)
const daySeconds = 86_400

const served = fc
  .subarray([...resolutions], { minLength: 1 })
  .map((list): Resolution[] =>
    [...new Set<Resolution>(list.includes('30') ? ['1', ...list] : list)].sort(finestFirst),
  )

const listed: fc.Arbitrary<ListedSymbol> = fc.record(
  {
    raw: fc.stringMatching(/^[A-Za-z0-9#£][A-Za-z0-9.]{0,11}$/),
    name: fc.stringMatching(/^[A-Z]{3} [A-Z]{1,8}$/),
    type: fc.constantFrom(...symbolTypes),
    digits: fc.integer({ min: 0, max: 10 }),
    display: words,
    description: words,
    session: fc.constantFrom(...sessions),
    delaySeconds: fc.integer({ min: 0, max: 900 }),
  },
  { requiredKeys: ['raw', 'type', 'digits'] },
)

const source: fc.Arbitrary<FeedDefinition['source']> = fc.oneof(
  fc.constant({ type: 'Push' as const }),
  fc.record({ type: fc.constant('Mt5Csv' as const), path: words, follow: fc.boolean() }),
  fc.record({ type: fc.constant('Simulator' as const), seed: fc.nat() }),
  fc.constant({ type: 'Terminal' as const }),
)

const clock: fc.Arbitrary<FeedDefinition['clock']> = fc.oneof(
  fc.constant({ mode: 'UTC' as const }),
  fc.constant({ mode: 'Measured' as const }),
  fc.record({ mode: fc.constant('Fixed' as const), offsetSeconds: fc.integer({ min: -1e9, max: 1e9 }) }),
)

const depth = fc.oneof(
  fc.integer({ min: 1, max: 1e6 }).map((seconds) => ({ seconds })),
  fc.integer({ min: 0, max: 30_000 }).map((day) => ({ since: feedSeconds(day * daySeconds) })),
)

/** Definitions of feeds that a valid manifest can describe. */
export const arbitraryDefinition: fc.Arbitrary<FeedDefinition> = fc
  .record({
    broker: keyPart,
    account: keyPart,
    name: fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/),
    brokerName: words,
    description: words,
    clock,
    quoteBasis: fc.constantFrom('Bid' as const, 'Mid' as const),
    resolutions: served,
    delaySeconds: fc.integer({ min: 0, max: 86_400 }),
    liveness: fc.constantFrom('heartbeat' as const, 'candle' as const),
    storageBuckets: fc.constantFrom(1, 2, 4, 32, 256),
    suffixes: fc.uniqueArray(fc.stringMatching(/^\.[a-z]{1,5}$/), { maxLength: 3 }),
    symbols: fc
      .uniqueArray(listed, { selector: (symbol) => symbol.raw.replace(/\..*$/, ''), maxLength: 5 })
      .map((list) =>
        list.filter(({ name }, i) => !list.slice(0, i).some((each) => name && each.name === name)),
      ),
    source,
    eachDepth: depth,
    earliestDay: fc.option(fc.integer({ min: 0, max: 30_000 }), { nil: undefined }),
    eachRetention: fc.option(fc.integer({ min: 1, max: 1e6 }), { nil: undefined }),
  })
  .map(({ eachDepth, eachRetention, earliestDay, ...definition }) => {
    const stored = definition.resolutions.filter((r) => r !== '30')
    return {
      ...definition,
      quoteBasis: definition.source.type === 'Terminal' ? ('Bid' as const) : definition.quoteBasis,
      ...(earliestDay !== undefined && { earliest: feedSeconds(earliestDay * daySeconds) }),
      key: feedKey(definition.broker, definition.account),
      depth: Object.fromEntries(stored.map((r) => [r, eachDepth])),
      retention: eachRetention === undefined ? {} : Object.fromEntries(stored.map((r) => [r, eachRetention])),
    }
  })
