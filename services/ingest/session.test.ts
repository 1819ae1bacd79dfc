import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { defineFeed, type IngestHouse, startIngest } from '../../test/support/ingest-house.ts'
import { RawSession, seriesAt } from '../../test/support/raw-session.ts'
import { createVirtualClock, type VirtualClock } from '../../test/support/virtual-clock.ts'
import { toList } from '../core/bar.ts'
import { compoundKey } from '../core/compound-key.ts'
import { feedSeconds } from '../core/feed-clock.ts'
import type { Resolution } from '../core/resolution.ts'
import type { Stores } from '../ports/stores.ts'

const start = Date.UTC(2026, 0, 5, 12)
const minute = 60

/** A feed for each test, so that all share one ingest and one store. */
const feedOf = (account: string) =>
  defineFeed({
    account,
    symbols: { suffixes: ['.z'], list: [{ raw: 'EURUSD.z', type: 'forex', digits: 5 }] },
  })
const mid = defineFeed({
  broker: 'BROKERB',
  account: 'LIVE',
  quoteBasis: 'Mid',
  clock: { mode: 'Fixed', offsetSeconds: -10_800 },
  symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] },
})
const feeds = Array.from({ length: 40 }, (_, i) => feedOf(`T${i}`))
const definitions = [feedOf('ZERO'), mid, ...feeds]

let clock: VirtualClock
let house: IngestHouse
let zero = feedOf('ZERO')
/** The beginning of the minute that it is, on a feed with UTC. */
let noon = start / 1000
/** What the store and the bus were asked, in order. */
const order: string[] = []
let leasesAreLost = false

const watched = (stores: Stores): Stores => ({
  ...stores,
  bars: {
    ...stores.bars,
    async write(batch, lane) {
      await stores.bars.write(batch, lane)
      order.push('committed')
    },
  },
  bus: {
    ...stores.bus,
    publish(event, epoch) {
      order.push(event.type)
      return stores.bus.publish(event, epoch)
    },
  },
  leases: {
    ...stores.leases,
    renew: async (name, holder) => !leasesAreLost && stores.leases.renew(name, holder),
  },
})

beforeAll(async () => {
  clock = createVirtualClock({ start })
  house = await startIngest(definitions, { clock, around: watched })
})
afterAll(() => house.remove())
beforeEach(async () => {
  await clock.advance(60_000 - (clock.utcMs() % 60_000))
  noon = clock.utcMs() / 1000
  zero = feeds.shift() ?? expect.unreachable('more tests than feeds')
  house.events.length = 0
  order.length = 0
})

const connect = (): RawSession => new RawSession(house.address)
const stored = async (symbol = 'EURUSD', resolution: Resolution = '1', feed = zero.key) =>
  toList(
    await house.stores.bars.read({
      series: { feed, symbol: compoundKey(feed, symbol), resolution },
      from: feedSeconds(0),
      to: feedSeconds(2 * noon),
    }),
  )
const times = async (...of: Parameters<typeof stored>) => (await stored(...of)).map(({ time }) => time)
const pushed = () =>
  house.events.flatMap(({ event }) => (event.type === 'bars' ? event.bars.map(({ bar }) => bar.time) : []))
const told = (type: string) => house.events.flatMap(({ event }) => (event.type === type ? [event] : []))

describe('greeting', () => {
  test('a feed that does not exist is refused with the one that was meant', async () => {
    const session = connect()
    session.hello('BROKERA:ZER0').catch(() => undefined)
    expect(await session.ended).toEqual({
      code: 'NOT_FOUND',
      details: 'there is no feed "BROKERA:ZER0" (did you mean BROKERA:ZERO?)',
    })
  })

  test('without the token, or with another one, nobody is let in', async () => {
    for (const token of ['', 'another']) {
      const session = new RawSession(house.address, token)
      session.hello(zero.key).catch(() => undefined)
      expect((await session.ended).code).toBe('UNAUTHENTICATED')
    }
  })

  test('whoever says nothing is sent away after ten seconds', async () => {
    const session = connect()
    session.stream.write({})
    expect((await session.ended).code).toBe('INVALID_ARGUMENT')
    const silent = connect()
    await expect.poll(() => clock.pending).toBeGreaterThan(3)
    await clock.advance(10_000)
    expect((await silent.ended).code).toBe('DEADLINE_EXCEEDED')
  })

  test("Welcome tells ingest's time, the feed's time and what the feed lists", async () => {
    const session = connect()
    const { welcome } = await session.hello(mid.key)
    expect(welcome).toMatchObject({
      active: true,
      utcMs: noon * 1000,
      feedNow: noon + 10_800,
      resolutions: ['1', '5', '60', '1D'],
      midQuoted: true,
    })
    await session.close()
  })

  test('Known tells the newest stored bar and the windows of each series', async () => {
    const first = connect()
    await first.hello(zero.key)
    await first.bars('BACKFILL', [seriesAt('EURUSD', [noon - 180, noon - 120])])
    await first.window('1', noon - 180, noon - 60, 'EURUSD')
    await first.window('5', noon - 600, noon - 300)
    await first.close()
    const second = connect()
    await second.hello(zero.key)
    const { series } = await second.next('known')
    expect(series).toEqual(
      [
        {
          symbol: 'EURUSD',
          resolution: '1',
          newest: noon - 120,
          windows: [noon - 180, 120],
          _newest: 'newest',
        },
        { symbol: '', resolution: '5', windows: [noon - 600, 300] },
      ].toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1)),
    )
    await second.close()
  })
})

describe('the live lane', () => {
  test('a live bar is pushed and stored before its ack, and the store is said to show it', async () => {
    const session = connect()
    await session.hello(zero.key)
    const { ack } = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 120, noon - 60])])
    expect(ack).toMatchObject({ accepted: 2, revised: 0, unchanged: 0 })
    expect(pushed()).toEqual([noon - 120, noon - 60])
    expect(await times()).toEqual([noon - 120, noon - 60])
    const position = house.events.find(({ event }) => event.type === 'bars')?.position
    expect(told('applied')).toEqual([{ type: 'applied', feed: zero.key, position }])
    await session.close()
  })

  test('a live bar that is not newer than the last pushed one is stored and never pushed', async () => {
    const session = connect()
    await session.hello(zero.key)
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 120, noon - 60])])
    const { ack } = await session.bars('LIVE', [
      seriesAt('EURUSD', [noon - 180, noon - 120, noon - 60], { close: 1.2, revision: 1_000_000_000_001 }),
    ])
    expect(ack).toMatchObject({ accepted: 1, revised: 2 })
    expect(pushed()).toEqual([noon - 120, noon - 60])
    expect((await stored()).map(({ close }) => close)).toEqual([1.2, 1.2, 1.2])
    expect(told('revised')).toMatchObject([{ from: noon - 180, to: noon - 60 }])
    await session.close()
  })

  test('what was pushed once is not pushed again by a later session', async () => {
    const first = connect()
    await first.hello(zero.key)
    await first.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    await first.close()
    const second = connect()
    await second.hello(zero.key)
    const { ack } = await second.bars('LIVE', [seriesAt('EURUSD', [noon - 60], { revision: 2_000 })])
    expect(ack).toMatchObject({ accepted: 0, unchanged: 1 })
    expect(pushed()).toEqual([noon - 60])
    await second.close()
  })

  test('a newer bar that an import stored meanwhile does not keep a live bar from being pushed', async () => {
    const live = connect()
    await live.hello(zero.key)
    await live.bars('LIVE', [seriesAt('EURUSD', [noon - 180])])
    const beside = connect()
    await beside.hello(zero.key, { mode: 'IMPORT', id: 'import' })
    await beside.bars('BACKFILL', [seriesAt('EURUSD', [noon - 120, noon - 60])])
    await live.bars('LIVE', [seriesAt('EURUSD', [noon - 120], { revision: 1_000_000_000_001 })])
    expect(pushed()).toEqual([noon - 180, noon - 120])
    await Promise.all([live.close(), beside.close()])
  })

  test('bars of a source that cannot be read again are pushed after their commit', async () => {
    const spooled = connect()
    await spooled.hello(zero.key, { rereadable: false })
    order.length = 0
    await spooled.bars('LIVE', [seriesAt('EURUSD', [noon - 120])])
    expect(order).toEqual(['committed', 'bars', 'applied'])
    await spooled.close()

    const file = connect()
    await file.hello(zero.key)
    order.length = 0
    await file.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(order).toEqual(['bars', 'committed', 'applied'])
    await file.close()
  })

  test('a live batch notes on the feed board when it came and its newest bar', async () => {
    const session = connect()
    await session.hello(zero.key)
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 180])])
    expect(await house.stores.board.read([zero.key])).toEqual(new Map())
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 120])])
    expect((await house.stores.board.read([zero.key])).get(zero.key)).toMatchObject({
      receivedAt: noon * 1000,
      newestBar: noon - 120,
    })
    await session.close()
  })
})

describe('backfill and imports', () => {
  test('equal values are unchanged, other values win by their revision, an older reading changes nothing', async () => {
    const session = connect()
    await session.hello(zero.key, { mode: 'IMPORT' })
    const at = [noon - 180, noon - 120]
    await session.bars('BACKFILL', [seriesAt('EURUSD', at, { revision: 5_000_000 })])
    const again = await session.bars('BACKFILL', [seriesAt('EURUSD', at, { revision: 6_000_000 })])
    expect(again.ack).toMatchObject({ accepted: 0, revised: 0, unchanged: 2 })
    expect((await stored())[0]?.revision).toBe(5_000_000)
    const corrected = await session.bars('BACKFILL', [
      seriesAt('EURUSD', [...at, noon - 60], { revision: 7_000_000, close: 1.3 }),
    ])
    expect(corrected.ack).toMatchObject({ accepted: 1, revised: 2, unchanged: 0 })
    const late = await session.bars('BACKFILL', [seriesAt('EURUSD', at, { revision: 6_500_000, close: 1.4 })])
    expect(late.ack).toMatchObject({ accepted: 0, revised: 0, unchanged: 2 })
    expect((await stored()).map(({ close }) => close)).toEqual([1.3, 1.3, 1.3])
    expect(pushed()).toEqual([])
    expect(told('revised').length).toBe(2)
    await session.close()
  })

  test('a derived bar never wins over a reading, and a later derivation over an earlier one', async () => {
    const session = connect()
    await session.hello(zero.key, { mode: 'IMPORT' })
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 120], { revision: 1, close: 1.2 })])
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 120], { revision: 1, close: 1.3 })])
    expect((await stored()).map(({ close }) => close)).toEqual([1.3])
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 120], { close: 1.4 })])
    const derived = await session.bars('BACKFILL', [
      seriesAt('EURUSD', [noon - 120], { revision: 1, close: 1.5 }),
    ])
    expect(derived.ack).toMatchObject({ unchanged: 1 })
    expect((await stored()).map(({ close }) => close)).toEqual([1.4])
    await session.close()
  })

  test('a batch scattered over years is compared without reading what lies between', async () => {
    const session = connect()
    await session.hello(zero.key, { mode: 'IMPORT' })
    const dense = Array.from({ length: 5_000 }, (_, i) => noon - 500_000 * minute + i * minute)
    for (const skipped of [0, 5_000, 10_000]) {
      const batch = dense.map((time) => time + skipped * minute)
      await session.bars('BACKFILL', [seriesAt('EURUSD', batch, { revision: 5_000_000 })])
    }
    const scattered = [dense[0] as number, (dense[0] as number) + 12_000 * minute, noon - 60]
    const { ack } = await session.bars('BACKFILL', [seriesAt('EURUSD', scattered, { close: 1.2 })])
    expect(ack).toMatchObject({ accepted: 1, revised: 2, unchanged: 0 })
    await session.close()
  })

  test('an import stands beside the live session and may not use its lane', async () => {
    const live = connect()
    await live.hello(zero.key)
    const beside = connect()
    await beside.hello(zero.key, { mode: 'IMPORT' })
    const { ack, refused } = await beside.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(ack).toMatchObject({ accepted: 0 })
    expect(refused).toMatchObject([{ reason: 'REFUSAL_REASON_MALFORMED', count: 1 }])
    expect(await times()).toEqual([])
    const wide = await beside.window('1', noon - 600, noon)
    expect(wide.refused).toMatchObject([{ reason: 'REFUSAL_REASON_MALFORMED' }])
    expect((await live.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])).ack).toMatchObject({ accepted: 1 })
    await Promise.all([live.close(), beside.close()])
  })
})

describe('refusals', () => {
  test('a bad bar is named by series and index with what is wanted, the good ones are stored', async () => {
    const session = connect()
    await session.hello(zero.key)
    const series = seriesAt('EURUSD', [noon - 180, noon - 120, noon - 60])
    ;(series.volume as number[])[1] = -100
    ;(series.volume as number[])[2] = 100
    const { ack, refused } = await session.bars('LIVE', [seriesAt('GBPUSD', [noon - 60, noon - 120]), series])
    expect(ack).toMatchObject({ accepted: 2 })
    expect(refused).toMatchObject([
      { series: 0, index: 0, count: 2, reason: 'REFUSAL_REASON_UNKNOWN_SERIES' },
      { series: 1, index: 1, count: 1, reason: 'REFUSAL_REASON_VOLUME' },
    ])
    expect(refused[0]?.message).toBe(`symbol: got "GBPUSD", which ${zero.key} does not list`)
    expect(await times()).toEqual([noon - 180, noon - 60])
    await session.close()
  })

  test('a forming bar is refused, unless a later one exists; a bar of the future always is', async () => {
    const session = connect()
    await session.hello(zero.key)
    const forming = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60, noon])])
    expect(forming.refused).toMatchObject([{ index: 1, reason: 'REFUSAL_REASON_NOT_CLOSED' }])
    const future = await session.bars('LIVE', [seriesAt('EURUSD', [noon, noon + 60])])
    expect(future.refused).toMatchObject([
      { index: 1, reason: 'REFUSAL_REASON_IN_THE_FUTURE' },
      { index: 0, reason: 'REFUSAL_REASON_NOT_CLOSED' },
    ])
    await clock.advance(60_000)
    expect((await session.bars('LIVE', [seriesAt('EURUSD', [noon])])).ack).toMatchObject({ accepted: 1 })
    await session.close()
  })

  test('a revision more than five seconds ahead of ingest is refused', async () => {
    const session = connect()
    await session.hello(zero.key)
    const ahead = (ms: number) => seriesAt('EURUSD', [noon - 60], { revision: noon * 1000 + ms })
    const { refused } = await session.bars('LIVE', [ahead(5_001)])
    expect(refused).toMatchObject([{ reason: 'REFUSAL_REASON_REVISION' }])
    expect((await session.bars('LIVE', [ahead(5_000)])).ack).toMatchObject({ accepted: 1 })
    await session.close()
  })

  test('a scale is the digits; one more only where quotes are mid', async () => {
    const bid = connect()
    await bid.hello(zero.key)
    const wrong = await bid.bars('LIVE', [seriesAt('EURUSD', [noon - 60], { scale: 6 })])
    expect(wrong.refused).toMatchObject([{ reason: 'REFUSAL_REASON_SCALE' }])
    const half = connect()
    await half.hello(mid.key)
    const at = noon + 10_800 - 60
    expect(
      (await half.bars('LIVE', [seriesAt('EURUSD', [at], { scale: 6, close: 1.100005 })])).ack,
    ).toMatchObject({ accepted: 1 })
    expect((await stored('EURUSD', '1', mid.key))[0]?.close).toBe(1.100005)
    await Promise.all([bid.close(), half.close()])
  })

  test('30 is not stored, nor is what the feed does not list', async () => {
    const session = connect()
    await session.hello(zero.key)
    for (const resolution of ['30', '240', '7', '__proto__']) {
      const { refused } = await session.bars('LIVE', [{ ...seriesAt('EURUSD', [noon - 86_400]), resolution }])
      expect(refused).toMatchObject([{ reason: 'REFUSAL_REASON_UNKNOWN_SERIES' }])
    }
    await session.close()
  })
})

describe('sequences', () => {
  test('the same message again gets the same ack; another body under its number is refused and alarms', async () => {
    const session = connect()
    await session.hello(zero.key)
    const message = { lane: 'LANE_LIVE' as const, series: [seriesAt('EURUSD', [noon - 60])] }
    session.send({ bars: { sequence: 1, ...message } })
    const first = await session.answer(1)
    session.received.length = 0
    session.send({ bars: { sequence: 1, ...message } })
    expect((await session.answer(1)).ack).toEqual(first.ack)
    session.received.length = 0
    session.send({ bars: { sequence: 1, lane: 'LANE_LIVE', series: [seriesAt('EURUSD', [noon - 120])] } })
    const conflict = await session.next('refused')
    expect(conflict.bars).toMatchObject([{ reason: 'REFUSAL_REASON_SEQUENCE' }])
    expect(await times()).toEqual([noon - 60])
    expect((await house.metrics.render()).text).toContain('fxd_ingest_alarms_total{kind="sequence"} 1')
    await session.close()
  })
})

describe('windows', () => {
  test('a window of one symbol is kept at its ack, cut off at the present', async () => {
    const session = connect()
    await session.hello(zero.key)
    await session.window('1', noon - 600, noon + 86_400, 'EURUSD')
    expect(await house.stores.windows.of(zero.key)).toMatchObject([
      { symbol: `${zero.key}:EURUSD`, from: noon - 600, to: noon + 5 },
    ])
    const none = await session.window('1', noon + 600, noon + 900, 'EURUSD')
    expect(none.refused).toMatchObject([{ reason: 'REFUSAL_REASON_MALFORMED' }])
    await session.close()
  })

  test('feed-wide windows are joined in memory and written once a minute, and at the end', async () => {
    const session = connect()
    await session.hello(zero.key)
    await session.window('1', noon - 180, noon - 120)
    await session.window('1', noon - 120, noon - 60)
    expect(await house.stores.windows.of(zero.key)).toEqual([])
    await clock.advance(60_000)
    await expect
      .poll(() => house.stores.windows.of(zero.key))
      .toMatchObject([{ symbol: undefined, from: noon - 180, to: noon - 60 }])
    await session.window('1', noon - 60, noon)
    await session.close()
    await expect
      .poll(() => house.stores.windows.of(zero.key))
      .toMatchObject([{ symbol: undefined, from: noon - 180, to: noon }])
  })
})

describe('leading and standing by', () => {
  test('a second collector stands by and takes over within fifteen seconds', async () => {
    const active = connect()
    await active.hello(zero.key)
    const second = connect()
    const promoted = second.hello(zero.key, { id: 'collector-2' })
    expect((await second.next('welcome')).active).toBe(false)
    await active.close()
    await clock.advance(15_000)
    const { welcome } = await promoted
    expect(welcome?.epoch).toBeGreaterThan(0)
    expect((await second.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])).ack).toMatchObject({ accepted: 1 })
    await second.close()
  })

  test('a collector that stands by and sends bars all the same is sent away', async () => {
    const active = connect()
    await active.hello(zero.key)
    const second = connect()
    second.hello(zero.key, { id: 'collector-2' }).catch(() => undefined)
    await second.next('welcome')
    second.send({ heartbeat: { terminalConnected: true } })
    second.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect((await second.ended).code).toBe('FAILED_PRECONDITION')
    await active.close()
  })

  test('a collector that comes back does not stand by behind its own dead connection', async () => {
    const dead = connect()
    await dead.hello(zero.key)
    const back = connect()
    const { welcome } = await back.hello(zero.key)
    expect(welcome?.active).toBe(true)
    expect((await dead.ended).code).toBe('ABORTED')
    await back.close()
  })

  test('a session whose lease went to another ingest ends', async () => {
    const session = connect()
    await session.hello(zero.key)
    leasesAreLost = true
    await clock.advance(5_000)
    leasesAreLost = false
    expect((await session.ended).code).toBe('ABORTED')
  })
})

describe('signs of life', () => {
  test('a heartbeat counts while the terminal is connected, and only for feeds that report it', async () => {
    const session = connect()
    await session.hello(zero.key)
    session.send({ heartbeat: { terminalConnected: false, newestTick: noon - 5 } })
    await expect
      .poll(async () => (await house.stores.board.read([zero.key])).get(zero.key)?.newestTick)
      .toBe(noon - 5)
    expect((await house.stores.board.read([zero.key])).get(zero.key)?.heartbeatAt).toBeUndefined()
    session.send({ heartbeat: { terminalConnected: true, newestTick: noon + 900 } })
    await expect
      .poll(async () => (await house.stores.board.read([zero.key])).get(zero.key))
      .toMatchObject({ heartbeatAt: noon * 1000, newestTick: noon })
    await session.close()
  })
})

describe('stopping', () => {
  test('what was received is acknowledged before ingest says that it stops', async () => {
    const session = connect()
    await session.hello(zero.key)
    const sequence = session.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
    await expect.poll(pushed).toEqual([noon - 60])
    const closing = house.close(5_000)
    expect((await session.answer(sequence)).ack).toMatchObject({ accepted: 1 })
    expect((await session.ended).code).toBe('UNAVAILABLE')
    await closing
  })
})
