import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { allocateBars, barCount, barsOf, toList } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey, type FeedKey } from '../../core/feeds/compound-key.ts'
import { backfillBatchesSlow } from '../../ingest/session/work/in-flight.ts'
import { backfillMessagesMax } from '../connection/history-room.ts'
import { Disconnected } from '../connection/session-client.ts'
import { ImportRefused, type ImportSession, openImport } from './import-session.ts'

const noon = Date.UTC(2026, 0, 5, 12) / 1000
const bid = defineFeed({ clock: { mode: 'Fixed', offsetSeconds: -10_800 } })
const mid = defineFeed({ account: 'MID', quoteBasis: 'Mid' })
const measured = defineFeed({ account: 'MEASURED', clock: { mode: 'Measured' } })

let clock: VirtualClock
let fixture: IngestFixture
beforeAll(async () => {
  clock = createVirtualClock({ start: noon * 1000 })
  fixture = await openIngestFixture([bid, mid, measured], { clock })
})
afterAll(() => fixture.remove())

const open = (feed: FeedKey = bid.key, token = testToken): Promise<ImportSession> =>
  openImport({ feed, address: fixture.address, identity: { token }, clock })
const stored = async (name: string, feed = bid.key) =>
  toList(
    await fixture.stores.bars.read({
      series: { feed, symbol: compoundKey(feed, name), resolution: '1' },
      from: feedSeconds(0),
      to: feedSeconds(2 * noon),
    }),
  )
const bar = (time: number, price = 1.1) => ({
  time: feedSeconds(time),
  open: price,
  high: price,
  low: price,
  close: price,
  volume: 1,
})

describe('greeting', () => {
  test('an unknown feed, a wrong token and an unavailable service have different codes', async () => {
    await expect(open('BROKERA:ZER0' as FeedKey)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(open(bid.key, 'wrong')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    const unreachable = openImport({ feed: bid.key, address: '127.0.0.1:1', identity: {}, clock })
    await expect(unreachable).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })

  test("feedNow is on the feed's clock, and undefined while that is unknown", async () => {
    const session = await open()
    expect(session.feedNow()).toBe(noon + 10_800)
    expect(session.resolutions).toEqual(['1', '5', '60', '1D'])
    await session.close()
    const unknown = await open(measured.key)
    expect(unknown.feedNow()).toBeUndefined()
    await unknown.close()
  })
})

describe('bars', () => {
  test('a symbol is added and its bars are stored; sending them again changes nothing', async () => {
    const session = await open()
    const symbol = await session.addSymbol({ name: 'EURUSD', digits: 5, type: 'forex' })
    expect(symbol).toEqual({ digits: 5, decimalsMax: 5, delaySeconds: 0 })
    const bars = barsOf([bar(noon - 120, 1.12345), bar(noon - 60, 1.1)])
    const first = await session.send({ name: 'EURUSD', resolution: '1' }, bars)
    expect(first).toEqual({ accepted: 2, revised: 0, unchanged: 0, refused: [] })
    await session.close()
    const again = await open()
    await again.addSymbol({ name: 'EURUSD', digits: 3 })
    expect(await again.send({ name: 'EURUSD', resolution: '1' }, bars)).toEqual({
      accepted: 0,
      revised: 0,
      unchanged: 2,
      refused: [],
    })
    expect((await stored('EURUSD')).map(({ close }) => close)).toEqual([1.12345, 1.1])
    await again.close()
  })

  test('within one session the later bar of a time replaces the earlier, even in the same millisecond', async () => {
    const session = await open()
    await session.addSymbol({ name: 'TWICE', digits: 2 })
    for (const price of [1.01, 1.02, 1.03]) {
      await session.send({ name: 'TWICE', resolution: '1' }, barsOf([bar(noon - 60, price)]))
    }
    expect((await stored('TWICE')).map(({ close }) => close)).toEqual([1.03])
    await session.close()
  })

  test('a price with too many decimals is refused by its index and never rounded', async () => {
    const session = await open()
    await session.addSymbol({ name: 'FINE', digits: 2 })
    const bars = barsOf([
      bar(noon - 240, 1.01),
      bar(noon - 180, 1.015),
      bar(noon - 120, 1.02),
      bar(noon - 61, 1.03),
    ])
    const { accepted, refused } = await session.send({ name: 'FINE', resolution: '1' }, bars)
    expect(accepted).toBe(2)
    expect(refused.map(({ index, count, reason }) => [index, count, reason])).toEqual([
      [1, 1, 'SCALE'],
      [3, 1, 'OFF_GRID'],
    ])
    await session.close()
  })

  test('a mid-quoted feed accepts the half unit', async () => {
    const session = await open(mid.key)
    expect(await session.addSymbol({ name: 'EURUSD', digits: 5 })).toMatchObject({ decimalsMax: 6 })
    await session.send({ name: 'EURUSD', resolution: '1' }, barsOf([bar(noon - 60, 1.123455)]))
    expect((await stored('EURUSD', mid.key)).map(({ close }) => close)).toEqual([1.123455])
    await session.close()
  })

  test('any number of bars can be sent, with numbers of any length', async () => {
    const session = await open()
    await session.addSymbol({ name: 'WILD', digits: 5 })
    const bars = allocateBars(12_000)
    for (let i = 0; i < barCount(bars); i++) {
      const price = i % 2 === 0 ? 0.00001 : 9_000_000_000
      bars.time[i] = noon - (barCount(bars) - i) * 60
      bars.open[i] = bars.high[i] = bars.low[i] = bars.close[i] = price
      bars.volume[i] = i % 2 === 0 ? 0 : 9_000_000_000_000_000
    }
    const outcome = await session.send({ name: 'WILD', resolution: '1' }, bars)
    expect(outcome).toEqual({ accepted: 12_000, revised: 0, unchanged: 0, refused: [] })
    await session.close()
  })

  test('the batches in flight stay below the number at which ingest requests a pause', async () => {
    const session = await open()
    await session.addSymbol({ name: 'MANY', digits: 5 })
    const outcomes = await Promise.all(
      Array.from({ length: 5 * backfillMessagesMax }, (_, i) =>
        session.send({ name: 'MANY', resolution: '1' }, barsOf([bar(noon - (1_000 - i) * 60)])),
      ),
    )
    expect(outcomes.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(5 * backfillMessagesMax)
    expect(backfillMessagesMax).toBeLessThan(backfillBatchesSlow)
    await session.close()
  })

  test('a derived bar does not replace one that was read', async () => {
    const session = await open()
    await session.addSymbol({ name: 'FOLDED', digits: 2 })
    await session.send({ name: 'FOLDED', resolution: '1' }, barsOf([bar(noon - 60, 1.01)]))
    const derived = { name: 'FOLDED', resolution: '1', derived: true } as const
    expect(await session.send(derived, barsOf([bar(noon - 60, 1.02)]))).toMatchObject({ unchanged: 1 })
    await session.close()
  })

  test('a window from the epoch second 0 is stored from second 1', async () => {
    const session = await open()
    await session.addSymbol({ name: 'OLD', digits: 2 })
    const days = Array.from({ length: 400 }, (_, i) => bar(i * 86_400, 1.1))
    const { accepted } = await session.send({ name: 'OLD', resolution: '1D' }, barsOf(days))
    expect(accepted).toBe(400)
    const to = feedSeconds(400 * 86_400)
    await session.window({ name: 'OLD', resolution: '1D' }, { from: feedSeconds(0), to })
    const windows = await fixture.stores.windows.of(bid.key)
    expect(windows.filter(({ symbol }) => symbol === `${bid.key}:OLD`)).toMatchObject([{ from: 1, to }])
    await session.close()
  })
})

describe('refusals', () => {
  test('refusals of a symbol and of a window have a reason', async () => {
    const session = await open()
    await expect(session.addSymbol({ name: 'TWO  SPACES', digits: 2 })).rejects.toThrow(
      'wanted 1 to 64 printable',
    )
    await expect(session.send({ name: 'NOBODY', resolution: '1' }, barsOf([]))).rejects.toThrow(ImportRefused)
    await session.addSymbol({ name: 'EURUSD', digits: 5 })
    const tomorrow = { from: feedSeconds(noon + 86_400), to: feedSeconds(noon + 90_000) }
    expect(await session.window({ name: 'EURUSD', resolution: '1' }, tomorrow)).toContain('in the past')
    await session.close()
  })

  test('a service that stops ends batches in flight with a reason', async () => {
    const other = await openIngestFixture([bid], { clock })
    const session = await openImport({
      feed: bid.key,
      address: other.address,
      identity: { token: testToken },
      clock,
    })
    await session.addSymbol({ name: 'EURUSD', digits: 5 })
    await other.close(0)
    const late = session.send({ name: 'EURUSD', resolution: '1' }, barsOf([bar(noon - 60)]))
    await expect(late).rejects.toThrow(Disconnected)
    await session.close()
    await other.remove()
  })
})
