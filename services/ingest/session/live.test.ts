import { describe, expect, test } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import { backfillBatchesSlow } from './work/in-flight.ts'

const suite = new SessionFixture()

describe('the live lane', () => {
  test('a live bar is pushed and stored before its ack, and `applied` follows', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const { ack } = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 120, noon - 60])])
    expect(ack).toMatchObject({ accepted: 2, revised: 0, unchanged: 0 })
    expect(suite.pushed()).toEqual([noon - 120, noon - 60])
    expect(await suite.times()).toEqual([noon - 120, noon - 60])
    const position = suite.fixture.events.find(({ event }) => event.type === 'bars')?.position
    expect(suite.busEvents('applied')).toEqual([{ type: 'applied', feed: suite.feed.key, position }])
    await session.close()
  })

  test('a live bar not newer than the last pushed bar is stored and never pushed', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 120, noon - 60])])
    const { ack } = await session.bars('LIVE', [
      seriesAt('EURUSD', [noon - 180, noon - 120, noon - 60], { close: 1.2, revision: 1_000_000_000_001 }),
    ])
    expect(ack).toMatchObject({ accepted: 1, revised: 2 })
    expect(suite.pushed()).toEqual([noon - 120, noon - 60])
    expect((await suite.stored()).map(({ close }) => close)).toEqual([1.2, 1.2, 1.2])
    expect(suite.busEvents('revised')).toMatchObject([{ from: noon - 180, to: noon - 60 }])
    await session.close()
  })

  test('a later session does not push a bar again', async () => {
    const noon = suite.minute
    const first = suite.connect()
    await first.hello(suite.feed.key)
    await first.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    await first.close()
    const second = suite.connect()
    await second.hello(suite.feed.key)
    const { ack } = await second.bars('LIVE', [seriesAt('EURUSD', [noon - 60], { revision: 2_000 })])
    expect(ack).toMatchObject({ accepted: 0, unchanged: 1 })
    expect(suite.pushed()).toEqual([noon - 60])
    await second.close()
  })

  test('a newer bar that an import stored meanwhile does not keep a live bar from being pushed', async () => {
    const noon = suite.minute
    const live = suite.connect()
    await live.hello(suite.feed.key)
    await live.bars('LIVE', [seriesAt('EURUSD', [noon - 180])])
    const beside = suite.connect()
    await beside.hello(suite.feed.key, { mode: 'IMPORT', id: 'import' })
    await beside.bars('BACKFILL', [seriesAt('EURUSD', [noon - 120, noon - 60])])
    await live.bars('LIVE', [seriesAt('EURUSD', [noon - 120], { revision: 1_000_000_000_001 })])
    expect(suite.pushed()).toEqual([noon - 180, noon - 120])
    await Promise.all([live.close(), beside.close()])
  })

  test('bars of a source that cannot be read again are pushed after their commit', async () => {
    const noon = suite.minute
    const spooled = suite.connect()
    await spooled.hello(suite.feed.key, { rereadable: false })
    suite.order.length = 0
    await spooled.bars('LIVE', [seriesAt('EURUSD', [noon - 120])])
    expect(suite.order).toEqual(['committed', 'bars', 'applied'])
    await spooled.close()

    const file = suite.connect()
    await file.hello(suite.feed.key)
    suite.order.length = 0
    await file.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(suite.order).toEqual(['bars', 'committed', 'applied'])
    await file.close()
  })

  test('bars are pushed before their write starts, and written at most 50 ms later without an answer of the bus', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const gate = Promise.withResolvers<void>()
    suite.busGate = gate.promise
    const writes: number[] = []
    suite.liveWrite = (write) => {
      writes.push(suite.clock.utcMs())
      return write()
    }
    const sequence = session.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
    await expect.poll(() => suite.order).toContain('bars')
    const pushedAt = suite.clock.utcMs()
    await suite.clock.advance(49)
    expect(writes).toEqual([])
    await suite.clock.advance(1)
    expect(writes).toEqual([pushedAt + 50])
    gate.resolve()
    expect((await session.answer(sequence)).ack).toMatchObject({ accepted: 1 })
    await session.close()
  })

  test('a batch is acknowledged after its commit; `applied` and windows wait until history has its bars', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const readable = Promise.withResolvers<void>()
    suite.liveWrite = async (write, onCommitted) => {
      await write()
      onCommitted?.()
      await readable.promise
    }
    const { ack } = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(ack).toMatchObject({ accepted: 1 })
    const window = session.postWindow('1', noon - 60, noon)
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 600])])
    expect(suite.busEvents('applied')).toEqual([])
    expect(await suite.fixture.stores.windows.of(suite.feed.key)).toEqual([])
    readable.resolve()
    await session.answer(window)
    expect(suite.busEvents('applied')).toHaveLength(1)
    expect(await suite.fixture.stores.windows.of(suite.feed.key)).toHaveLength(1)
    await session.close()
  })

  test('a live bar overtakes backfill that waits for the store, and the collector is asked to pause backfill', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const gate = Promise.withResolvers<void>()
    suite.backfillGate = gate.promise
    const waiting = Array.from({ length: backfillBatchesSlow }, (_, i) =>
      session.post('BACKFILL', [seriesAt('EURUSD', [noon - (100 + i) * 60])]),
    )
    expect((await session.next('slow')).pauseMs).toBeGreaterThan(0)
    const { ack } = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(ack).toMatchObject({ accepted: 1 })
    expect(suite.pushed()).toEqual([noon - 60])
    expect(session.received.filter((message) => message.ack).length).toBe(1)
    gate.resolve()
    for (const sequence of waiting)
      expect((await session.answer(sequence)).ack).toMatchObject({ accepted: 1 })
    await session.close()
  })

  test('reading pauses for a collector that keeps sending, and none of its batches is lost', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const gate = Promise.withResolvers<void>()
    suite.backfillGate = gate.promise
    const sequences = Array.from({ length: 200 }, (_, i) =>
      session.post('BACKFILL', [seriesAt('EURUSD', [noon - (300 - i) * 60])]),
    )
    await session.next('slow')
    gate.resolve()
    for (const sequence of sequences) await session.answer(sequence)
    expect((await suite.times()).length).toBe(200)
    await session.close()
  })

  test('reading pauses while 5,000 refused bars wait for a write, and every bar is answered', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const gate = Promise.withResolvers<void>()
    suite.liveWrite = (write) => gate.promise.then(write)
    session.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
    const offGrid = Array.from({ length: 1_000 }, (_, i) => noon - (1_002 - i) * 60 + 1)
    const sequences = Array.from({ length: 30 }, () =>
      session.post('LIVE', [seriesAt('EURUSD', [...offGrid, noon - 60])]),
    )
    const waiting = (): Promise<number> =>
      suite.fixture.metrics.total('fxd_ingest_queued_batches', { lane: 'live' })
    await expect.poll(waiting).toBeGreaterThanOrEqual(6)
    const beside = suite.connect()
    await beside.hello(suite.mid.key)
    await beside.close()
    expect(await waiting()).toBeLessThan(15)
    gate.resolve()
    for (const sequence of sequences) expect((await session.answer(sequence)).refused).toHaveLength(1_000)
    await session.close()
  })

  test('a live batch reports its time of receipt and its newest bar to the feed board', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 180])])
    expect(await suite.fixture.stores.board.read([suite.feed.key])).toEqual(new Map())
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 120])])
    expect((await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key)).toMatchObject({
      receivedAt: noon * 1000,
      newestBar: noon - 120,
    })
    await session.close()
  })

  test('an hourly live bar that opened before stored minutes does not change the newest bar', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 180])])
    const hour = (Math.floor(noon / 3_600) - 1) * 3_600
    await session.bars('LIVE', [seriesAt('EURUSD', [hour], { resolution: '60' })])
    expect((await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key)).toMatchObject({
      receivedAt: noon * 1000,
      newestBar: noon - 180,
    })
    await session.close()
  })
})

describe('readers are notified', () => {
  test('of complete minutes after their bars, only through feed-wide windows of the live lane', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 120, noon - 60])])
    await session.window('5', noon - 300, noon)
    await session.window('1', noon - 120, noon)
    const events = suite.fixture.events.map(({ event }) => event).filter(({ type }) => type !== 'applied')
    expect(events).toMatchObject([
      { type: 'bars' },
      { type: 'minutes', feed: suite.feed.key, from: noon - 120, to: noon - 60 },
    ])
    await session.close()
  })

  test('every two seconds that the store has everything that was pushed', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    await suite.clock.advance(2_000)
    await expect.poll(() => suite.busEvents('settled')).toEqual([{ type: 'settled', feed: suite.feed.key }])
    await session.close()
    await suite.clock.advance(10_000)
    expect(suite.busEvents('settled')).toHaveLength(1)
  })
})

describe('liveness', () => {
  test('a heartbeat counts while the terminal is connected, for feeds whose liveness is the heartbeat', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    session.send({ heartbeat: { terminalConnected: false, newestTick: noon - 5 } })
    await expect
      .poll(
        async () => (await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key)?.newestTick,
      )
      .toBe(noon - 5)
    expect(
      (await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key)?.heartbeatAt,
    ).toBeUndefined()
    session.send({ heartbeat: { terminalConnected: true, newestTick: noon + 900 } })
    await expect
      .poll(async () => (await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key))
      .toMatchObject({ heartbeatAt: noon * 1000, newestTick: noon })
    await session.close()
  })

  test('the metric of a feed follows its heartbeats, and ends with the session', async () => {
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const line = async (): Promise<string | undefined> =>
      /^fxd_ingest_terminal_connected\{.*$/m.exec((await suite.fixture.metrics.render()).text)?.[0]
    const series = `fxd_ingest_terminal_connected{feed="${suite.feed.key}"}`
    for (const terminalConnected of [true, false]) {
      session.send({ heartbeat: { terminalConnected } })
      await expect.poll(line).toBe(`${series} ${Number(terminalConnected)}`)
    }
    await session.close()
    await expect.poll(line).toBeUndefined()
  })
})
