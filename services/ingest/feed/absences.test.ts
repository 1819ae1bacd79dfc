import { expect, test } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import { absenceMs } from './absences.ts'

const suite = new SessionFixture()
const [gold, silver] = [
  { raw: 'XAUUSD', digits: 5 },
  { raw: 'XAGUSD', digits: 5 },
]

const shown = () => suite.fixture.registry.view().symbolsOf(suite.feed.key)
const names = () => shown().map(({ name }) => name)
const sinceOf = (name: string) => shown().find((symbol) => symbol.name === name)?.since

async function session() {
  const opened = suite.connect()
  await opened.hello(suite.feed.key)
  return opened
}

/** Resolves after the minute of an absence and the write that follows it. */
async function afterMinute(): Promise<void> {
  await suite.clock.advance(1)
  await suite.fixture.writer.change(() => ({ rows: [], result: undefined }))
}

test('a symbol that a snapshot leaves out is shown and accepts bars for a minute, then it is hidden', async () => {
  const live = await session()
  await live.catalogue([gold, silver])
  await live.catalogue([silver])
  const { ack, refused } = await live.bars('LIVE', [seriesAt('XAUUSD', [suite.minute - 60])])
  expect([ack.accepted, refused]).toEqual([1, []])
  await suite.clock.advance(absenceMs - 1)
  expect(names()).toEqual(['EURUSD', 'XAGUSD', 'XAUUSD'])
  await afterMinute()
  expect(names()).toEqual(['EURUSD', 'XAGUSD'])
  await live.catalogue([gold, silver])
  expect(names()).toEqual(['EURUSD', 'XAGUSD', 'XAUUSD'])
  await live.close()
})

test('a symbol that is listed again within a minute stays shown and keeps its coverage, each time', async () => {
  const live = await session()
  await live.catalogue([gold, silver])
  const since = sinceOf('XAUUSD')
  for (let round = 0; round < 3; round++) {
    await live.catalogue([silver])
    await suite.clock.advance(absenceMs - 1)
    await live.catalogue([gold, silver])
    await afterMinute()
    expect(names()).toContain('XAUUSD')
    expect(sinceOf('XAUUSD')).toBe(since)
  }
  await live.close()
})

test('a feed-wide window that ends while a symbol is absent does not cover the symbol', async () => {
  const noon = suite.minute
  const live = await session()
  await live.catalogue([gold, silver])
  await live.catalogue([silver])
  await live.window('1', noon - 60, noon)
  expect(sinceOf('XAUUSD')).toBeUndefined()
  await live.catalogue([gold, silver])
  expect(sinceOf('XAUUSD')).toBe(noon)
  await live.close()
})

test('a feed-wide window that waits for bars does not cover a symbol that is listed meanwhile', async () => {
  const noon = suite.minute
  const live = await session()
  await live.catalogue([gold])
  const gate = Promise.withResolvers<void>()
  suite.liveWrite = async (write) => {
    await gate.promise
    await write()
  }
  live.post('LIVE', [seriesAt('XAUUSD', [noon - 60])])
  const window = live.window('1', noon - 60, noon)
  await live.catalogue([silver], { snapshot: false })
  gate.resolve()
  await window
  expect(sinceOf('XAGUSD')).toBe(noon)
  await live.close()
})

test('the minute continues after the end of the session and during the next session', async () => {
  const first = await session()
  await first.catalogue([gold, silver])
  await first.catalogue([silver])
  await first.close()
  await suite.clock.advance(absenceMs / 2)
  const second = await session()
  await second.catalogue([silver])
  await suite.clock.advance(absenceMs / 2 - 1)
  expect(names()).toContain('XAUUSD')
  await afterMinute()
  expect(names()).not.toContain('XAUUSD')
  await second.close()
})

test('a symbol that another process lists and leaves out again gets a new minute', async () => {
  const live = await session()
  await live.catalogue([gold, silver])
  await live.catalogue([silver])
  await suite.clock.advance(absenceMs - 1)
  const symbol = compoundKey(suite.feed.key, 'XAUUSD')
  await suite.fixture.writer.change((view) => {
    const record = view.symbol(symbol)
    return { rows: record ? [{ kind: 'symbol', id: symbol, body: record }] : [], result: undefined }
  })
  await afterMinute()
  expect(names()).toContain('XAUUSD')
  await live.close()
})

test('the absent symbols of a feed without a manifest are hidden at once', async () => {
  const live = await session()
  await live.catalogue([gold, silver])
  await live.catalogue([silver])
  await suite.fixture.writer.change((view) => ({
    rows: view
      .allFeeds()
      .filter(({ definition }) => definition.key === suite.feed.key)
      .map((feed) => ({ kind: 'feed', id: feed.definition.key, body: { ...feed, hidden: true } })),
    result: undefined,
  }))
  expect(names()).toEqual([])
})
