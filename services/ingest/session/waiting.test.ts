import { describe, expect, test } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { unackedBarsMax } from '../feed/waiting-bars.ts'

const suite = new SessionFixture()

/** The open time of the bar of five minutes that closed as the last one, or so many before. */
const five = (back: number): number => (Math.floor(suite.minute / 300) - back) * 300

/** Writes of these resolutions wait, of all without any, until the returned function is called. */
function holdWrites(...held: readonly Resolution[]): () => void {
  const gate = Promise.withResolvers<void>()
  suite.liveWrite = async (write, _, batch) => {
    const isHeld = held.length === 0 || batch.some(({ series }) => held.includes(series.resolution))
    if (isHeld) await gate.promise
    await write()
  }
  return gate.resolve
}

/** Reads of stored bars fail until the returned function is called. */
function refuseReads(): () => void {
  suite.readGate = Promise.reject(new Unavailable('store', new Error('away')))
  suite.readGate.catch(() => undefined)
  return () => {
    suite.readGate = Promise.resolve()
  }
}

describe('while the store is away', () => {
  test('a session goes on and its bars are pushed; afterwards they are acknowledged, stored and complete', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const release = holdWrites()
    const sequences: number[] = []
    for (const time of [noon - 180, noon - 120, noon - 60]) {
      sequences.push(session.post('LIVE', [seriesAt('EURUSD', [time])]))
      await suite.clock.advance(60_000)
    }
    const window = session.postWindow('1', noon - 180, noon)
    await expect.poll(() => suite.pushed()).toEqual([noon - 180, noon - 120, noon - 60])
    expect(session.received.filter(({ ack }) => ack)).toEqual([])
    expect(suite.busEvents('settled')).toEqual([])
    release()
    for (const sequence of [...sequences, window]) await session.answer(sequence)
    expect(await suite.times()).toEqual([noon - 180, noon - 120, noon - 60])
    expect(suite.order.filter((each) => each === 'bars')).toHaveLength(3)
    expect(suite.busEvents('minutes')).toMatchObject([{ from: noon - 180, to: noon - 60 }])
    await session.close()
  })

  test('a collector that connects again gets what is stored from memory, and its bars join those that wait', async () => {
    const noon = suite.minute
    const first = suite.connect()
    await first.hello(suite.feed.key)
    await first.bars('LIVE', [seriesAt('EURUSD', [noon - 180])])
    await first.window('1', noon - 240, noon - 120)
    const release = holdWrites()
    const bars = [seriesAt('EURUSD', [noon - 120])]
    first.post('LIVE', bars)
    await expect.poll(() => suite.pushed()).toEqual([noon - 180, noon - 120])
    // The store hangs: reads have no answer before their deadline.
    const hung = Promise.withResolvers<void>()
    suite.readGate = hung.promise
    first.stream.cancel()
    const second = suite.connect()
    await second.hello(suite.feed.key)
    expect((await second.next('known')).series).toMatchObject([
      { symbol: 'EURUSD', newest: noon - 180 },
      { symbol: '', windows: [noon - 240, 120] },
    ])
    const again = second.post('LIVE', bars)
    const fresh = second.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
    const window = second.postWindow('1', noon - 120, noon)
    await expect.poll(() => suite.pushed()).toEqual([noon - 180, noon - 120, noon - 60])
    const written = suite.order.filter((each) => each === 'committed').length
    release()
    expect((await second.answer(again)).ack).toMatchObject({ accepted: 1, unchanged: 0 })
    expect((await second.answer(fresh)).ack).toMatchObject({ accepted: 1 })
    await second.answer(window)
    expect(suite.order.filter((each) => each === 'committed').length - written).toBe(2)
    hung.resolve()
    await second.close()
    const answer = refuseReads()
    const third = suite.connect()
    await third.hello(suite.feed.key)
    expect((await third.next('known')).series).toMatchObject([
      { symbol: 'EURUSD', newest: noon - 60 },
      { symbol: '', windows: [noon - 240, 240] },
    ])
    await third.close()
    answer()
    expect(await suite.times()).toEqual([noon - 180, noon - 120, noon - 60])
  })

  test('the session of a feed that this ingest does not know waits for Known, and ends when its collector leaves', async () => {
    const answer = refuseReads()
    const leaving = suite.connect()
    leaving.hello(suite.feed.key).catch(() => undefined)
    const waits = suite.clock.pending
    await expect.poll(() => suite.clock.pending).toBeGreaterThan(waits)
    const ended = () => suite.fixture.metrics.total('fxd_ingest_sessions_ended_total', {})
    const endedBefore = await ended()
    leaving.stream.cancel()
    await expect.poll(ended).toBe(endedBefore + 1)
    const session = suite.connect()
    const greeted = session.hello(suite.feed.key)
    await suite.clock.advance(120_000)
    expect(session.received).toEqual([])
    answer()
    const known = async (): Promise<number> => {
      await suite.clock.advance(1_000)
      return session.received.filter((message) => message.known).length
    }
    await expect.poll(known).toBe(1)
    await greeted
    await session.close()
  })

  test('a session that ends frees its lease at once, and a standby leads', async () => {
    const noon = suite.minute
    const first = suite.connect()
    await first.hello(suite.feed.key)
    const release = holdWrites()
    first.post('LIVE', [seriesAt('EURUSD', [noon - 120])])
    await expect.poll(() => suite.pushed()).toEqual([noon - 120])
    first.stream.cancel()
    const second = suite.connect()
    await second.hello(suite.feed.key, { id: 'collector-2' })
    const { ack } = { ack: second.post('LIVE', [seriesAt('EURUSD', [noon - 60])]) }
    await expect.poll(() => suite.pushed()).toEqual([noon - 120, noon - 60])
    release()
    await second.answer(ack)
    expect(await suite.times()).toEqual([noon - 120, noon - 60])
    await second.close()
  })

  test('bars of a collector that cannot send again are pushed once, after their commit, also when their session ended', async () => {
    const noon = suite.minute
    const first = suite.connect()
    await first.hello(suite.feed.key, { rereadable: false })
    const release = holdWrites()
    let isWriting = false
    const held = suite.liveWrite
    suite.liveWrite = (...write) => {
      isWriting = true
      return held(...write)
    }
    const bars = [seriesAt('EURUSD', [noon - 120])]
    first.post('LIVE', bars)
    await expect.poll(() => isWriting).toBe(true)
    first.stream.cancel()
    const second = suite.connect()
    await second.hello(suite.feed.key, { rereadable: false })
    const again = second.post('LIVE', bars)
    expect(suite.pushed()).toEqual([])
    release()
    expect((await second.answer(again)).ack).toMatchObject({ accepted: 1 })
    await second.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(suite.pushed()).toEqual([noon - 120, noon - 60])
    await second.close()
  })

  test('a late bar is compared after the bars of its table that wait', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const release = holdWrites()
    const first = session.post('LIVE', [seriesAt('EURUSD', [noon - 120, noon - 60])])
    const late = session.post('LIVE', [seriesAt('EURUSD', [noon - 120], { revision: 1_000_000_000_001 })])
    await session.window('5', noon - 600, noon)
    release()
    expect((await session.answer(first)).ack).toMatchObject({ accepted: 2 })
    expect((await session.answer(late)).ack).toMatchObject({ accepted: 0, unchanged: 1 })
    await session.close()
  })
})

test('a symbol that is listed while the registry is away waits, and bars of the other symbols are pushed', async () => {
  const noon = suite.minute
  const session = suite.connect()
  await session.hello(suite.feed.key)
  suite.registryGate = Promise.reject(new Unavailable('store', new Error('away')))
  suite.registryGate.catch(() => undefined)
  let names: unknown
  void session.catalogue([{ raw: 'GBPUSD.z', digits: 5 }], { snapshot: false }).then((answer) => {
    names = answer.names
  })
  const { ack } = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
  expect(ack).toMatchObject({ accepted: 1 })
  expect(suite.pushed()).toEqual([noon - 60])
  await suite.clock.advance(60_000)
  expect(names).toBeUndefined()
  suite.registryGate = Promise.resolve()
  const listed = async (): Promise<unknown> => {
    await suite.clock.advance(1_000)
    return names
  }
  await expect.poll(listed).toMatchObject([{ raw: 'GBPUSD.z', symbol: 'GBPUSD' }])
  expect((await session.bars('LIVE', [seriesAt('GBPUSD', [noon - 60])])).ack).toMatchObject({ accepted: 1 })
  await session.close()
})

describe('while one table waits', () => {
  test('the minutes of the feed are acknowledged, complete and settled; only its own bars and windows wait', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const release = holdWrites('5')
    const alone = session.post('LIVE', [seriesAt('EURUSD', [five(2)], { resolution: '5' })])
    const mixed = session.post('LIVE', [
      seriesAt('EURUSD', [noon - 120]),
      seriesAt('EURUSD', [five(1)], { resolution: '5' }),
    ])
    const windowOfFive = session.postWindow('5', noon - 600, noon)
    const { ack } = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(ack).toMatchObject({ accepted: 1 })
    await session.window('1', noon - 120, noon)
    expect(suite.busEvents('applied')).toHaveLength(2)
    expect(suite.busEvents('minutes')).toMatchObject([{ from: noon - 120, to: noon - 60 }])
    await suite.clock.advance(2_000)
    await expect.poll(() => suite.busEvents('settled')).toHaveLength(1)
    expect(await suite.times()).toEqual([noon - 120, noon - 60])
    const answered = session.received.flatMap((message) => message.ack?.sequence ?? [])
    for (const sequence of [alone, mixed, windowOfFive]) expect(answered).not.toContain(sequence)
    expect(suite.busEvents('tableApplied')).toEqual([])
    release()
    for (const sequence of [alone, mixed, windowOfFive]) await session.answer(sequence)
    expect(suite.busEvents('tableApplied')).toMatchObject([{ resolution: '5' }, { resolution: '5' }])
    await session.close()
  })

  test('a table that is in order again ends the session, and the next one learns that its windows were withdrawn', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 120])])
    await session.window('1', noon - 180, noon - 60)
    const release = holdWrites()
    session.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
    await expect.poll(() => suite.pushed()).toEqual([noon - 120, noon - 60])
    const [feed, span] = [suite.feed.key, { from: feedSeconds(0), to: feedSeconds(noon) }]
    await suite.fixture.stores.windows.withdraw({
      feed,
      resolution: '1',
      symbol: undefined,
      span,
      others: [],
    })
    suite.repaired(feed)
    expect((await session.ended).code).toBe('UNAVAILABLE')
    const next = suite.connect()
    await next.hello(feed)
    expect((await next.next('known')).series).toMatchObject([{ symbol: 'EURUSD', windows: [] }])
    release()
    await next.close()
  })

  test('bars of a collector that cannot send again are pushed as their own table is committed', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key, { rereadable: false })
    const release = holdWrites('5')
    const mixed = session.post('LIVE', [
      seriesAt('EURUSD', [five(1)], { resolution: '5' }),
      seriesAt('EURUSD', [noon - 60]),
    ])
    await expect.poll(() => suite.pushed()).toEqual([noon - 60])
    release()
    await session.answer(mixed)
    expect(suite.pushed()).toEqual([noon - 60, five(1)])
    await session.close()
  })
})

test('a feed with 100,000 bars without an Ack is not read, and stays alive by its connection', async () => {
  const noon = suite.minute
  const session = suite.connect()
  await session.hello(suite.feed.key)
  const board = async () =>
    (await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key)?.heartbeatAt
  session.send({ heartbeat: { terminalConnected: true } })
  await expect.poll(board).toBe(noon * 1_000)
  const release = holdWrites()
  const perMessage = 2_000
  const sequences: number[] = []
  const messages = unackedBarsMax / perMessage + 10
  for (let i = 0; i < messages; i++) {
    const times = Array.from({ length: perMessage }, (_, j) => noon - ((messages - i) * perMessage - j) * 60)
    sequences.push(session.post('LIVE', [seriesAt('EURUSD', times)]))
  }
  await expect.poll(() => suite.pushed().length, { timeout: 10_000 }).toBe(unackedBarsMax)
  await suite.clock.advance(600_000)
  await expect.poll(board).toBe(noon * 1_000 + 600_000)
  expect(suite.pushed()).toHaveLength(unackedBarsMax)
  release()
  for (const sequence of sequences) await session.answer(sequence)
  expect(suite.pushed()).toHaveLength(messages * perMessage)
  await session.close()
})
