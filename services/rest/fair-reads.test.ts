import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
} from '../../test/support/fixtures/rest-fixture.ts'
import { feedSeconds } from '../core/clocks/feed-clock.ts'
import { Overloaded } from '../core/failure.ts'
import type { Stores } from '../ports/stores.ts'

const count = 25_000
const start = Date.UTC(2026, 0, 1) / 1000
const end = start + count * 60

let edge: RestFixture
/** The reader of each read of the store. */
let readers: unknown[] = []
/** The symbol of each read of windows; `undefined`: all of the feed. */
let windowReads: unknown[] = []
/** While true, the store serves no reader. */
let isFull = false

const watched = (stores: Stores): Stores => {
  const { bars, windows } = stores
  const note = (reader: { readonly key: string } | undefined): void => {
    readers.push(reader?.key)
    if (isFull) throw new Overloaded('store', new Error('others of its key were read'))
  }
  return {
    ...stores,
    bars: {
      ...bars,
      read: async (query) => (note(query.reader), bars.read(query)),
      bounds: async (series, spans, reader) => (note(reader), bars.bounds(series, spans, reader)),
    },
    windows: {
      ...windows,
      of: async (feed, reader, symbol) => {
        note(reader)
        windowReads.push(symbol)
        return windows.of(feed, reader, symbol)
      },
    },
  }
}

beforeAll(async () => {
  edge = await openRestFixture({ start: end * 1000, around: watched })
  await edge.register(
    aFeed('BROKERA', 'ZERO'),
    aSymbol('BROKERA:ZERO:EURUSD'),
    aKey(1, ['BROKERA:ZERO'], { prefix: 'fxd_abcd' }),
    aKey(2, ['BROKERA:ZERO'], { prefix: 'fxd_ef01' }),
  )
  const bars = Array.from({ length: count }, (_, i) => aBar(start + i * 60))
  await edge.store('BROKERA:ZERO:EURUSD', '1', bars)
  const { feed, symbol } = { feed: 'BROKERA:ZERO', symbol: 'BROKERA:ZERO:EURUSD' } as never
  await edge.stores.windows.add([
    { feed, symbol, resolution: '1', from: feedSeconds(start), to: feedSeconds(end) },
  ])
}, 60_000)
beforeEach(() => {
  readers = []
  windowReads = []
  edge.logged.length = 0
})
afterAll(() => edge.close())

const history = '/v1/history?symbol=BROKERA:ZERO:EURUSD'
const paths = [
  [`${history}&resolution=1&countback=300`, 1],
  [`${history}&resolution=1&from=0&to=${end}`, 3],
  [`${history}&resolution=30&countback=700`, 2],
  [`${history}&resolution=30&from=0&to=${end}`, 3],
  ['/v1/coverage?symbol=BROKERA:ZERO:EURUSD', 2],
  ['/v1/coverage', 2],
] as const

test.each(paths)('the store is read slice by slice for the key that requests %s', async (path, readsMin) => {
  for (const key of [1, 2]) {
    readers = []
    expect((await edge.ask(path, { key })).status).toBe(200)
    expect(new Set(readers)).toEqual(new Set([`key-${key}`]))
    expect(readers.length).toBeGreaterThanOrEqual(readsMin)
  }
})

test('coverage of one symbol reads the windows of that symbol only', async () => {
  await edge.ask('/v1/coverage?symbol=BROKERA:ZERO:EURUSD', { key: 1 })
  expect(windowReads).toEqual(['BROKERA:ZERO:EURUSD'])
})

test('requests of one key for all coverage share readings, and each has what was stored before it', async () => {
  const requests = 12
  const asked = Array.from({ length: requests }, () => edge.ask('/v1/coverage', { key: 1 }))
  const earlier = await Promise.all(asked)
  expect(windowReads.length).toBeLessThan(requests)
  const { feed, symbol } = { feed: 'BROKERA:ZERO', symbol: 'BROKERA:ZERO:EURUSD' } as never
  const underWay = edge.ask('/v1/coverage', { key: 1 })
  await edge.store('BROKERA:ZERO:EURUSD', '60', [aBar(start - 7_200)])
  await edge.stores.windows.add([
    { feed, symbol, resolution: '60', from: feedSeconds(start - 7_200), to: feedSeconds(start - 3_600) },
  ])
  const later = await edge.ask('/v1/coverage', { key: 1 })
  await underWay
  for (const { body } of earlier)
    expect(body.coverage).toEqual({ 'BROKERA:ZERO:EURUSD': [{ from: start, to: end - 60 }] })
  expect(later.body.coverage['BROKERA:ZERO:EURUSD']).toHaveLength(2)
})

test('a read without a turn in time is 500 with Retry-After; one warning per key prefix and minute has the count', async () => {
  const loud = () =>
    edge.logged.map((line) => JSON.parse(line) as { level: number }).filter(({ level }) => level >= 40)
  isFull = true
  for (const key of [1, 1, 2, 1]) {
    const { status, headers, body } = await edge.ask(`${history}&resolution=1&countback=5`, { key })
    expect([status, headers['retry-after'], body.error.code]).toEqual([500, '2', 'SERVER_ERROR'])
  }
  const msg = 'requests rejected: too many requests of the key at once, or no memory for long answers'
  const line = (keyPrefix: string, events: number) =>
    expect.objectContaining({ level: 40, keyPrefix, events, msg }) as unknown
  expect(loud()).toEqual([line('fxd_abcd', 1), line('fxd_ef01', 1)])
  await edge.clock.advance(60_000)
  await edge.ask(`${history}&resolution=1&countback=5`, { key: 1 })
  isFull = false
  expect(loud().slice(2)).toEqual([line('fxd_abcd', 3)])
})

test('an answer of 25,000 bars is written in turns of the event loop, at most 2,000 bars each', async () => {
  const soon = vi.spyOn(edge.clock, 'soon')
  const turns = async (query: string): Promise<number> => {
    soon.mockClear()
    expect((await edge.ask(`${history}&resolution=1&${query}`, { key: 1 })).status).toBe(200)
    return soon.mock.calls.length
  }
  const ofShort = await turns('countback=300')
  // Without turns of its own: three reads of the store instead of one.
  expect(await turns(`from=0&to=${end}`)).toBeGreaterThan(ofShort + 2 + 5)
  soon.mockRestore()
})
