import { describe, expect, test } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, compoundKey } from '../../core/feeds/compound-key.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { feedWindowsMax, separateWindowsMax } from '../check/check-window.ts'

const suite = new SessionFixture()

describe('windows', () => {
  test('a window of one symbol is stored before its ack and ends at the present', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    await session.window('1', noon - 600, noon + 86_400, 'EURUSD')
    expect(await suite.fixture.stores.windows.of(suite.feed.key)).toMatchObject([
      { symbol: `${suite.feed.key}:EURUSD`, from: noon - 600, to: noon + 60 },
    ])
    const none = await session.window('1', noon + 600, noon + 900, 'EURUSD')
    expect(none.refused).toMatchObject([{ reason: 'REFUSAL_REASON_MALFORMED' }])
    await session.close()
  })

  test('a session that loses its feed ends during the write of its window, which is stored', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const gate = Promise.withResolvers<void>()
    let isWriting = false
    suite.windowsWrite = (write) => {
      isWriting = true
      return gate.promise.then(write)
    }
    await suite.fixture.stores.bus.publish({ type: 'settled', feed: suite.feed.key }, Number.MAX_SAFE_INTEGER)
    session.postWindow('5', noon - 600, noon)
    await expect.poll(() => isWriting).toBe(true)
    session.postWindow('1', noon - 60, noon)
    expect((await session.ended).code).toBe('ABORTED')
    gate.resolve()
    await expect.poll(() => suite.fixture.stores.windows.of(suite.feed.key)).toHaveLength(2)
  })

  test('a feed-wide window is stored before its ack, joined with the one before it', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    for (const end of [noon - 120, noon - 60, noon]) {
      await session.window('1', end - 60, end)
      expect(await suite.fixture.stores.windows.of(suite.feed.key)).toMatchObject([
        { symbol: undefined, from: noon - 180, to: end },
      ])
    }
    await session.close()
  })

  test('a series with the maximum of separate windows refuses a further one, and takes one that touches them', async () => {
    const [noon, { key: feed }] = [suite.minute, suite.feed]
    const symbol = compoundKey(feed, 'EURUSD')
    const start = noon - separateWindowsMax * 120
    const separate = Array.from({ length: separateWindowsMax }, (_, i) => {
      const from = feedSeconds(start + i * 120)
      return { feed, symbol, resolution: '1' as const, from, to: feedSeconds(from + 60) }
    })
    await suite.fixture.stores.windows.add(separate)
    const session = suite.connect()
    await session.hello(feed)
    const take = async (from: number, resolution: Resolution = '1') =>
      (await session.window(resolution, from, from + 60, 'EURUSD')).refused ?? []
    const refusal = {
      reason: 'REFUSAL_REASON_TOO_MANY_WINDOWS',
      message: expect.stringMatching(`${symbol} has ${separateWindowsMax} separate windows`) as string,
    }
    expect(await take(start - 120)).toMatchObject([refusal])
    expect(await take(start - 120, '5')).toEqual([])
    // It joins two windows.
    expect(await take(start + 60)).toEqual([])
    expect(await take(start - 120)).toEqual([])
    expect(await take(start - 240)).toMatchObject([refusal])
    const stored = await suite.fixture.stores.windows.of(feed)
    expect(stored.filter(({ resolution }) => resolution === '1')).toHaveLength(separateWindowsMax)
    await session.close()
  })

  test('windows of a minute that end one second too early are stored as one', async () => {
    const [noon, { key: feed }] = [suite.minute, suite.feed]
    const session = suite.connect()
    await session.hello(feed)
    for (let from = noon - 600; from < noon; from += 60) {
      await session.window('1', from, from + 59, 'EURUSD')
      await session.window('1', from, from + 59)
      await session.window('5', from, from + 59)
      await session.window('60', from, from + 59)
    }
    const stored = await suite.fixture.stores.windows.of(feed)
    expect(stored.map(({ symbol, resolution }) => [symbol, resolution])).toEqual([
      [undefined, '1'],
      [undefined, '5'],
      [undefined, '60'],
      [compoundKey(feed, 'EURUSD'), '1'],
    ])
    expect(new Set(stored.map(({ from }) => from))).toEqual(new Set([noon - 600]))
    expect(new Set(stored.map(({ to }) => to))).toEqual(new Set([noon]))
    await session.close()
  })

  test('a window in which no bar may open is acknowledged and claims nothing', async () => {
    const session = suite.connect()
    await session.hello(suite.feed.key)
    expect((await session.window('1', suite.minute - 119, suite.minute - 61)).refused).toEqual([])
    expect(await suite.fixture.stores.windows.of(suite.feed.key)).toEqual([])
    await session.close()
  })

  test('an interruption between feed-wide windows leaves one window of a series, in Known and in the store', async () => {
    const [noon, { key: feed }] = [suite.minute, suite.feed]
    const symbol = compoundKey(feed, 'EURUSD')
    const first = suite.connect()
    await first.hello(feed)
    await first.catalogue([{ raw: 'EURUSD.z', type: 'forex', digits: 5 }])
    await first.window('1', noon - 3_600, noon - 1_800, 'EURUSD')
    await first.window('1', noon - 1_800, noon - 600)
    await first.close()
    const second = suite.connect()
    await second.hello(feed)
    await second.window('1', noon - 600, noon - 300, 'EURUSD')
    await second.close()
    const ofSymbol = (await suite.fixture.stores.windows.of(feed)).filter(
      (window) => window.symbol === symbol,
    )
    expect(ofSymbol).toMatchObject([{ from: noon - 3_600, to: noon - 300 }])
    const third = suite.connect()
    await third.hello(feed)
    const known = third.received.flatMap((message) => message.known?.series ?? [])
    expect(known.map((series) => [series.symbol, series.windows])).toEqual([
      ['', [noon - 1_800, 1_200]],
      ['EURUSD', [noon - 3_600, 3_300]],
    ])
    await third.close()
  })

  test('a feed with the maximum of separate windows refuses a further one, and takes all else of all series', async () => {
    const [noon, { key: feed }] = [suite.minute, suite.feed]
    const start = noon - 1_000_000
    const fillers = Array.from({ length: 6 }, (_, i) => compoundKey(feed, `FILL${i}`))
    // One less than the maximum beyond the first of each series.
    const stored = Array.from({ length: feedWindowsMax + fillers.length - 1 }, (_, i) => {
      const from = feedSeconds(start + Math.floor(i / fillers.length) * 120)
      const symbol = fillers[i % fillers.length] as CompoundKey
      return { feed, symbol, resolution: '1' as const, from, to: feedSeconds(from + 60) }
    })
    await suite.fixture.stores.windows.add(stored)
    const refusals = () =>
      suite.fixture.metrics.total('fxd_ingest_refused_windows_total', { reason: 'too_many_windows' })
    const before = await refusals()
    const session = suite.connect()
    await session.hello(feed)
    const take = async (from: number, to: number, resolution: Resolution = '1', symbol = 'EURUSD') =>
      (await session.window(resolution, from, to, symbol)).refused ?? []
    expect(await take(noon - 3_600, noon - 1_800)).toEqual([])
    expect(await take(noon - 7_200, noon - 6_000)).toEqual([])
    const refused = await take(noon - 600, noon - 300)
    expect(refused).toMatchObject([{ reason: 'REFUSAL_REASON_TOO_MANY_WINDOWS' }])
    expect(refused[0]?.message).toMatch(
      new RegExp(
        `wanted a window that touches a stored one of ${feed}:EURUSD at 1: .* 50000 separate windows`,
      ),
    )
    expect(await refusals()).toBe(before + 1)
    expect(await take(noon - 600, noon - 300, '5')).toEqual([])
    expect(await take(noon - 1_800, noon - 1_200)).toEqual([])
    expect(await take(noon - 60, noon, '1', '')).toEqual([])
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(await suite.times()).toEqual([noon - 60])
    // It joins two, so another one has room.
    expect(await take(noon - 6_000, noon - 3_600)).toEqual([])
    expect(await take(noon - 600, noon - 300)).toEqual([])
    await session.close()
  })

  test('sessions that begin during a read of the windows share the next read', async () => {
    const sessions = Array.from({ length: 8 }, () => suite.connect())
    const gate = Promise.withResolvers<void>()
    suite.readGate = gate.promise
    suite.windowReads = 0
    const begun = sessions.map((session, i) => session.hello(suite.feed.key, { mode: 'IMPORT', id: `i${i}` }))
    await expect.poll(() => suite.fixture.metrics.total('fxd_ingest_sessions', { mode: 'import' })).toBe(8)
    expect(suite.windowReads).toBe(1)
    gate.resolve()
    await Promise.all(begun)
    expect(suite.windowReads).toBe(2)
    await Promise.all(sessions.map((session) => session.close()))
  })

  test('windows that arrive during a write share the next write', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const gate = Promise.withResolvers<void>()
    const writes: number[] = []
    suite.windowsWrite = async (write, count) => {
      writes.push(count)
      await gate.promise
      await write()
    }
    const first = session.window('1', noon - 60, noon)
    await expect.poll(() => writes).toEqual([1])
    const later = (['5', '60', '1D'] as const).map((resolution) =>
      session.window(resolution, noon - 60, noon),
    )
    const own = session.window('5', noon - 300, noon, 'EURUSD')
    // Messages are processed in order: this Ack follows the processing of all windows before it.
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    gate.resolve()
    await Promise.all([first, ...later, own])
    expect(writes).toEqual([1, 4])
    await session.close()
  })
})

describe('feed-wide windows', () => {
  const minuteRanges = (): unknown[] =>
    suite.busEvents('minutes').map((event) => event.type === 'minutes' && [event.from, event.to])
  /** Holds back the commit of backfill until the returned function is called. */
  const holdBackfill = (): (() => void) => {
    const gate = Promise.withResolvers<void>()
    suite.backfillGate = gate.promise
    return gate.resolve
  }

  test('a live minute is complete while history of other times waits for the store', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const release = holdBackfill()
    const history = session.post('BACKFILL', [
      seriesAt('EURUSD', [noon - 86_400, noon - 120, noon]),
      seriesAt('EURUSD', [noon - 3_600], { resolution: '60' }),
    ])
    session.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect((await session.window('1', noon - 60, noon)).refused).toEqual([])
    expect(minuteRanges()).toEqual([[noon - 60, noon - 60]])
    expect(session.received.some(({ ack }) => ack?.sequence === history)).toBe(false)
    release()
    await session.answer(history)
    await session.close()
  })

  test('only minutes that a window covers whole are complete', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    await session.window('1', noon - 200, noon - 90)
    expect(minuteRanges()).toEqual([[noon - 180, noon - 180]])
    await session.window('1', noon - 90, noon - 30)
    // It ends at the present.
    await session.window('1', noon, noon + 60)
    expect(minuteRanges()).toEqual([[noon - 180, noon - 180]])
    await session.close()
  })

  test('a window whose minute has a waiting correction is stored after it, and later windows too', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const release = holdBackfill()
    const correction = session.post('BACKFILL', [seriesAt('EURUSD', [noon - 120])])
    const first = session.window('1', noon - 120, noon - 60)
    const second = session.window('1', noon - 60, noon)
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(session.received.filter(({ ack }) => ack !== null && ack !== undefined)).toHaveLength(1)
    expect(minuteRanges()).toEqual([])
    release()
    await Promise.all([session.answer(correction), first, second])
    expect(minuteRanges()).toEqual([
      [noon - 120, noon - 120],
      [noon - 60, noon - 60],
    ])
    await session.close()
  })

  test('a window of one symbol waits for all earlier messages of its resolution', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const release = holdBackfill()
    session.post('BACKFILL', [seriesAt('EURUSD', [noon - 86_400])])
    const window = session.window('1', noon - 600, noon - 300, 'EURUSD')
    await session.window('5', noon - 600, noon - 300, 'EURUSD')
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(await suite.fixture.stores.windows.of(suite.feed.key)).toMatchObject([{ resolution: '5' }])
    release()
    await window
    expect(await suite.fixture.stores.windows.of(suite.feed.key)).toHaveLength(2)
    await session.close()
  })
})
