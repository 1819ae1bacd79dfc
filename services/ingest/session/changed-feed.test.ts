import { expect, test } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import { feedRows } from '../../registry/feed-rows.ts'

const suite = new SessionFixture()

/** Changes the manifest of the test's feed. */
async function redefine(change: Partial<FeedDefinition>): Promise<void> {
  const definition = { ...suite.feed, ...change }
  await suite.fixture.writer.change((view) => ({
    rows: feedRows(definition, undefined, view),
    result: undefined,
  }))
}
const ended = () => ({
  code: 'UNAVAILABLE',
  details: `the manifest of ${suite.feed.key} was changed; connect again`,
})

test.for([
  [
    'other digits of a symbol',
    (feed: FeedDefinition) => ({ symbols: feed.symbols.map((s) => ({ ...s, digits: 3 })) }),
  ],
  ['a longer delay', () => ({ delaySeconds: 900 })],
  ['a list without the symbol', () => ({ symbols: [] })],
] as const)(
  'a live session whose bars are refused due to %s ends, and the next one is not ended',
  async ([, change]) => {
    const bars = [seriesAt('EURUSD', [suite.minute - 60])]
    const session = suite.connect()
    await session.hello(suite.feed.key)
    await redefine(change(suite.feed))
    const sequence = session.post('LIVE', bars)
    expect(await session.ended).toEqual(ended())
    expect(session.received.filter(({ ack }) => ack?.sequence === sequence)).toEqual([])
    const next = suite.connect()
    await next.hello(suite.feed.key)
    expect((await next.bars('LIVE', bars)).refused).toHaveLength(1)
    await next.close()
  },
)

test('a live session of a symbol that gets another name ends, and the next one gets that name', async () => {
  const raw = 'Volatility 75 Index'
  const symbols = [{ raw, digits: 2 }]
  const session = suite.connect()
  await session.hello(suite.feed.key)
  await session.catalogue(symbols)
  await redefine({ symbols: [{ raw, name: 'VOL75', type: 'index', digits: 2 }] })
  session.post('LIVE', [seriesAt(raw, [suite.minute - 60], { scale: 2 })])
  expect(await session.ended).toEqual(ended())
  const next = suite.connect()
  await next.hello(suite.feed.key)
  await next.catalogue(symbols)
  const names = next.received.flatMap(({ catalogued }) => catalogued?.names ?? [])
  expect(names).toMatchObject([{ raw, symbol: 'VOL75', digits: 2 }])
  await next.close()
})

test('a live session whose bars are still accepted after a change of the manifest goes on', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  await redefine({ brokerName: 'Another name' })
  expect((await session.bars('LIVE', [seriesAt('EURUSD', [suite.minute - 60])])).ack).toMatchObject({
    accepted: 1,
  })
  await session.close()
})
