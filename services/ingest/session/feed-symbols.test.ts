import { expect, test, vi } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { testToken } from '../../../test/support/fixtures/ingest-fixture.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import { feedSymbolsMax } from '../../wire/limits.ts'
import { registryClient } from '../../wire/unary-client.ts'

const suite = new SessionFixture()
const reason =
  'the feed has 20000 symbols, hidden ones included; no new name is accepted (see "fxd symbols remove --hidden")'

/** Gives the feed of the test hidden symbols, up to the maximum less `room`. */
async function fill(room: number): Promise<void> {
  const { writer, registry } = suite.fixture
  const feed = suite.feed.key
  const [had] = registry.view().symbolsOf(feed)
  const names = Array.from({ length: feedSymbolsMax - room - 1 }, (_, i) => `FILLED${i}`)
  const rows = names.map((name) => {
    const symbol = compoundKey(feed, name)
    const body: SymbolRecord = { ...(had as SymbolRecord), symbol, name, raw: name, hidden: true }
    return { kind: 'symbol', id: symbol, body } as const
  })
  await writer.change(() => ({ rows, result: undefined }))
}

test('catalogues of many sessions add no more symbols to a feed than its maximum, and known ones are served', async () => {
  await fill(2)
  const session = suite.connect()
  await session.hello(suite.feed.key)
  const { refused } = await session.catalogue([
    { raw: 'NEW1', digits: 5 },
    { raw: 'NEW2', digits: 5 },
    { raw: 'NEW3', digits: 5 },
  ])
  expect(refused).toEqual([{ raw: 'NEW3', reason }])
  const delta = await session.catalogue([{ raw: 'NEW4', digits: 5 }], { snapshot: false })
  expect(delta).toMatchObject({ names: [], refused: [{ raw: 'NEW4', reason }] })
  expect(suite.fixture.registry.view().symbolCount(suite.feed.key)).toBe(feedSymbolsMax)
  const { ack } = await session.bars('LIVE', [
    seriesAt('EURUSD', [suite.minute - 60]),
    seriesAt('NEW2', [suite.minute - 60]),
  ])
  expect(ack).toMatchObject({ accepted: 2 })
  await session.close()
})

test('of two imports with a new name each, the second ends if the feed has room for one', async () => {
  await fill(1)
  const [first, second] = [suite.connect(), suite.connect()]
  for (const session of [first, second]) await session.hello(suite.feed.key, { mode: 'IMPORT' })
  expect((await first.catalogue([{ name: 'NEW1', digits: 5 }])).refused).toEqual([])
  expect((await second.catalogue([{ name: 'NEW2', digits: 5 }])).refused).toEqual([])
  const bars = (name: string) => [seriesAt(name, [suite.minute - 60])]
  expect((await first.bars('BACKFILL', bars('NEW1'))).ack).toMatchObject({ accepted: 1 })
  second.post('BACKFILL', bars('NEW2'))
  expect(await second.ended).toEqual({ code: 'RESOURCE_EXHAUSTED', details: reason })
  expect(second.received.filter(({ ack }) => ack)).toEqual([])
  expect((await first.catalogue([{ name: 'NEW2', digits: 5 }])).refused).toEqual([{ raw: 'NEW2', reason }])
  expect(suite.fixture.registry.view().symbolCount(suite.feed.key)).toBe(feedSymbolsMax)
  await first.close()
})

test('a feed full of hidden names without bars accepts new names once RemoveSymbol freed them', async () => {
  await fill(0)
  const session = suite.connect()
  await session.hello(suite.feed.key)
  expect((await session.catalogue([{ raw: 'NEW1', digits: 5 }])).refused).toEqual([{ raw: 'NEW1', reason }])
  const { call, close } = registryClient(suite.fixture.address, { token: testToken })
  const request = { feed: suite.feed.key, symbol: '', hidden: true }
  expect(await call('RemoveSymbol', request)).toEqual({ series: 0, freed: feedSymbolsMax - 1 })
  close()
  expect((await session.catalogue([{ raw: 'NEW1', digits: 5 }])).refused).toEqual([])
  expect(suite.fixture.registry.view().symbolCount(suite.feed.key)).toBe(2)
  await session.close()
})

test('the parts of the answer to 10,000 names are sent in separate turns of the event loop', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  const soon = vi.spyOn(suite.fixture.clock, 'soon')
  const names = Array.from({ length: 10_000 }, (_, i) => ({ raw: `NAME${i}`, digits: 5 }))
  expect((await session.catalogue(names)).refused).toEqual([])
  const parts = session.received.filter(({ catalogued }) => catalogued)
  expect(parts.length).toBeGreaterThan(5)
  expect(soon.mock.calls.length).toBeGreaterThanOrEqual(parts.length)
  await session.close()
})
