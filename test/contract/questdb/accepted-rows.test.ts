import fc from 'fast-check'
import { expect, test } from 'vitest'
import { barsOf, type RevisedBar } from '../../../services/core/bars/bar.ts'
import { barTimeMax } from '../../../services/core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import type { CompoundKey } from '../../../services/core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../../services/core/feeds/symbol.ts'
import { isCleanName } from '../../../services/core/feeds/symbol-name.ts'
import { type CheckContext, checkBatch } from '../../../services/ingest/check/check-batch.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { revisionAheadMs } from '../../../services/wire/limits.ts'
import { effort } from '../../support/effort.ts'
import { defineFeed } from '../../support/fixtures/ingest-fixture.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { freshFeed } from '../suites/sample-bars.ts'

const server = oneServer()
/** A million in `make soak`. */
const rowCount = effort > 1 ? 1_000_000 : 50_000
const messagesAtOnce = 200
const resolutions = ['1', '60', '1D'] as const

const utcNow = systemClock.utcMs()
const edgePrices = [0, -0, Number.MIN_VALUE, -Number.MIN_VALUE, Number.MAX_VALUE, -Number.MAX_VALUE, 1.1]
const anyPrice = fc.oneof(fc.constantFrom(...edgePrices), fc.double({ noNaN: true, noDefaultInfinity: true }))
const edgeMinutes = [0, 1, 59, 60, Math.floor(barTimeMax / 60) - 1, Math.floor(barTimeMax / 60)]
const anyMinute = fc.oneof(fc.constantFrom(...edgeMinutes), fc.integer({ min: 29_000_000, max: 29_020_000 }))
const anyBar: fc.Arbitrary<RevisedBar> = fc
  .record({
    minute: anyMinute,
    prices: fc.array(anyPrice, { minLength: 4, maxLength: 4 }),
    volume: fc.oneof(fc.constantFrom(0, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER), fc.maxSafeNat()),
    revision: fc.oneof(
      fc.constantFrom(1, 2 ** 31, utcNow + revisionAheadMs),
      fc.integer({ min: 1, max: utcNow }),
    ),
  })
  .map(({ minute, prices, volume, revision }) => {
    const [low = 0, open = 0, close = 0, high = 0] = prices.toSorted((a, b) => a - b)
    return { time: feedSeconds(minute * 60), open, high, low, close, volume, revision }
  })
const anyCharacter = fc.oneof(
  fc.constantFrom(
    ' ',
    ',',
    '=',
    '\\',
    '"',
    "'",
    ';',
    ':',
    '.',
    '%',
    '#',
    '{',
    '[',
    '\u0301',
    '\u{1f600}',
    '\u00a7',
    '\ufffd',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
)
const anyName = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 64 }).filter(isCleanName)
const anyMessage = fc.array(
  fc.record({
    symbol: anyName,
    resolution: fc.constantFrom(...resolutions),
    list: fc.uniqueArray(anyBar, { selector: ({ time }) => time, minLength: 1, maxLength: 60 }),
  }),
  { minLength: 1, maxLength: 60 },
)

test('every bar that passes the checks of ingest is taken and returned by QuestDB', {
  timeout: 60_000 + rowCount,
}, async () => {
  const { stores, metric } = await openInTest(server())
  const definition = { ...defineFeed({ resolutions }), key: freshFeed() }
  const context: CheckContext = {
    view: {
      symbol: (symbol: CompoundKey) => ({ symbol, digits: 5, delaySeconds: 0 }) as SymbolRecord,
      feed: () => undefined,
    },
    definition,
    utcNow,
    feedNow: undefined,
    latest: undefined,
    newestOf: () => barTimeMax,
  }
  let rows = 0
  for (let seed = 1; rows < rowCount; seed++) {
    const good = fc.sample(anyMessage, { seed, numRuns: messagesAtOnce }).flatMap((message) => {
      const received = message.map(({ list, ...of }) => ({
        ...of,
        scale: 5,
        count: list.length,
        bars: barsOf(list.toSorted((a, b) => a.time - b.time)),
      }))
      const checked = checkBatch(received, context)
      return checked.scattered ?? checked.good
    })
    // A table that rejects rows fails the ping, with the reason of the server.
    const storing = stores.bars.write(good, 'backfill').then(() => 'stored')
    const outcome = (): Promise<string> =>
      Promise.race([storing, stores.bars.ping().then(() => 'waiting', String)])
    await expect.poll(outcome, { timeout: 60_000, interval: 20 }).toBe('stored')
    for (const { bars } of good) rows += bars.time.length
    for (const { series, bars } of good.slice(0, 2)) {
      const [time = feedSeconds(0)] = bars.time as unknown as FeedSeconds[]
      expect((await stores.bars.read({ series, from: time, to: time })).time).toHaveLength(1)
    }
  }
  expect(await metric('fxd_questdb_write_failures_total')).toBe(0)
})
