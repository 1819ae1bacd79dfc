import { describe, expect, test, vi } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import { Unavailable } from '../../core/failure.ts'
import { batchBarsMax } from '../../wire/limits.ts'

const suite = new SessionFixture()
const minute = 60
const away = (): Promise<never> => {
  const rejected = Promise.reject(new Unavailable('store'))
  rejected.catch(() => undefined)
  return rejected
}

describe('backfill and imports', () => {
  test('equal values count as unchanged, a newer revision replaces a bar, an older one changes nothing', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key, { mode: 'IMPORT' })
    const at = [noon - 180, noon - 120]
    await session.bars('BACKFILL', [seriesAt('EURUSD', at, { revision: 5_000_000 })])
    const again = await session.bars('BACKFILL', [seriesAt('EURUSD', at, { revision: 6_000_000 })])
    expect(again.ack).toMatchObject({ accepted: 0, revised: 0, unchanged: 2 })
    expect((await suite.stored())[0]?.revision).toBe(5_000_000)
    const corrected = await session.bars('BACKFILL', [
      seriesAt('EURUSD', [...at, noon - 60], { revision: 7_000_000, close: 1.3 }),
    ])
    expect(corrected.ack).toMatchObject({ accepted: 1, revised: 2, unchanged: 0 })
    const late = await session.bars('BACKFILL', [seriesAt('EURUSD', at, { revision: 6_500_000, close: 1.4 })])
    expect(late.ack).toMatchObject({ accepted: 0, revised: 0, unchanged: 2 })
    expect((await suite.stored()).map(({ close }) => close)).toEqual([1.3, 1.3, 1.3])
    expect(suite.pushed()).toEqual([])
    expect(suite.busEvents('revised').length).toBe(2)
    await session.close()
  })

  test('an Ack has the number of closes that differ from the stored ones by one ratio', async () => {
    const session = suite.connect()
    await session.hello(suite.feed.key, { mode: 'IMPORT' })
    const at = Array.from({ length: 25 }, (_, i) => suite.minute - 30 * minute + i * minute)
    const first = await session.bars('BACKFILL', [seriesAt('EURUSD', at, { revision: 5_000_000 })])
    expect(first.ack).toMatchObject({ sameRatio: 0 })
    const split = await session.bars('BACKFILL', [
      seriesAt('EURUSD', at.slice(0, 21), { revision: 6_000_000, close: 1.2 }),
    ])
    expect(split.ack).toMatchObject({ revised: 21, sameRatio: 21 })
    const again = await session.bars('BACKFILL', [seriesAt('EURUSD', at, { revision: 5_500_000 })])
    expect(again.ack).toMatchObject({ unchanged: 25, sameRatio: 21 })
    await session.close()
  })

  test('reads for a session take the turns of its feed and lane, not those of all feeds, and wait as long as backfill', async () => {
    const noon = suite.minute
    const reads = vi.spyOn(suite.fixture.stores.bars, 'read')
    const session = suite.connect()
    await session.hello(suite.feed.key)
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 120])])
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 180])])
    const asked = reads.mock.calls.map(([{ lane, reader }]) => [lane, reader?.key])
    expect(asked).toEqual([
      ['backfill', `ingest live ${suite.feed.key}`],
      ['backfill', `ingest backfill ${suite.feed.key}`],
    ])
    reads.mockRestore()
    await session.close()
  })

  test('a derived bar never replaces a reading, and a later derivation replaces an earlier one', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key, { mode: 'IMPORT' })
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 120], { revision: 1, close: 1.2 })])
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 120], { revision: 1, close: 1.3 })])
    expect((await suite.stored()).map(({ close }) => close)).toEqual([1.3])
    await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 120], { close: 1.4 })])
    const derived = await session.bars('BACKFILL', [
      seriesAt('EURUSD', [noon - 120], { revision: 1, close: 1.5 }),
    ])
    expect(derived.ack).toMatchObject({ unchanged: 1 })
    expect((await suite.stored()).map(({ close }) => close)).toEqual([1.4])
    await session.close()
  })

  test('batches are stored at the same time; one that overlaps an earlier batch waits for it and is compared with it', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key, { mode: 'IMPORT' })
    const gate = Promise.withResolvers<void>()
    suite.backfillGate = gate.promise
    const answers = [
      session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 300, noon - 240], { revision: 5_000_000 })]),
      session.bars('BACKFILL', [
        seriesAt('EURUSD', [noon - 240, noon - 180], { revision: 6_000_000, close: 1.3 }),
      ]),
      session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 120], { revision: 5_000_000 })]),
    ]
    await expect.poll(() => suite.backfillWrites).toBe(2)
    gate.resolve()
    const acks = (await Promise.all(answers)).map(({ ack }) => ack)
    expect(acks).toMatchObject([
      { accepted: 2, revised: 0 },
      { accepted: 1, revised: 1 },
      { accepted: 1, revised: 0 },
    ])
    expect(await suite.times()).toEqual([noon - 300, noon - 240, noon - 180, noon - 120])
    expect((await suite.stored())[1]?.close).toBe(1.3)
    await session.close()
  })

  test('batches with more than 10,000 bars in all are not stored at the same time; after the end of their session none that waits is stored', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key, { mode: 'IMPORT' })
    const gate = Promise.withResolvers<void>()
    suite.backfillGate = gate.promise
    const times = Array.from(
      { length: 2 * batchBarsMax },
      (_, i) => noon - (2 * batchBarsMax + 1 - i) * minute,
    )
    const answers = Promise.allSettled([
      session.bars('BACKFILL', [seriesAt('EURUSD', times.slice(0, batchBarsMax))]),
      session.bars('BACKFILL', [seriesAt('EURUSD', times.slice(batchBarsMax))]),
      session.bars('BACKFILL', [seriesAt('EURUSD', [noon - minute])]),
    ])
    // Imports have no live lane: the answer shows that the batches before were taken.
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - minute])])
    expect(suite.backfillWrites).toBe(2)
    session.stream.cancel()
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await expect.poll(() => suite.fixture.metrics.total('fxd_ingest_queued_batches', {})).toBe(2)
    gate.resolve()
    await expect.poll(() => suite.fixture.metrics.total('fxd_ingest_queued_batches', {})).toBe(0)
    expect(suite.backfillWrites).toBe(2)
  })

  test('history waits while the store does not answer a comparison or its queue is full, and is then stored', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const bars = (close: number, revision: number) => [
      seriesAt('EURUSD', [noon - 120], { close, revision: 1_000_000_000_000 + revision }),
    ]
    await session.bars('BACKFILL', bars(1.1, 0))
    suite.readGate = away()
    suite.backfillGate = away()
    const sequence = session.post('BACKFILL', bars(1.2, 1))
    await suite.clock.advance(60_000)
    expect(suite.backfillWrites).toBe(1)
    suite.readGate = Promise.resolve()
    const later = async (): Promise<number> => {
      await suite.clock.advance(1_000)
      return suite.backfillWrites
    }
    await expect.poll(later).toBeGreaterThanOrEqual(3)
    suite.backfillGate = Promise.resolve()
    await expect.poll(async () => (await later()) && session.received.at(-1)?.ack?.sequence).toBe(sequence)
    expect((await session.answer(sequence)).ack).toMatchObject({ revised: 1 })
    await session.close()
  })

  test('a batch scattered over years is compared without reading the bars in between', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key, { mode: 'IMPORT' })
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

  test('an import runs beside the live session and may not use the live lane', async () => {
    const noon = suite.minute
    const live = suite.connect()
    await live.hello(suite.feed.key)
    const beside = suite.connect()
    await beside.hello(suite.feed.key, { mode: 'IMPORT' })
    const { ack, refused } = await beside.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(ack).toMatchObject({ accepted: 0 })
    expect(refused).toMatchObject([{ reason: 'REFUSAL_REASON_MALFORMED', count: 1 }])
    expect(await suite.times()).toEqual([])
    const wide = await beside.window('1', noon - 600, noon)
    expect(wide.refused).toMatchObject([{ reason: 'REFUSAL_REASON_MALFORMED' }])
    expect((await live.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])).ack).toMatchObject({ accepted: 1 })
    await Promise.all([live.close(), beside.close()])
  })
})

describe('refusals', () => {
  test('a bad bar is refused by series and index with the wanted value, and the good ones are stored', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const series = seriesAt('EURUSD', [noon - 180, noon - 120, noon - 60])
    ;(series.volume as number[])[1] = -100
    ;(series.volume as number[])[2] = 100
    const { ack, refused } = await session.bars('LIVE', [seriesAt('GBPUSD', [noon - 60, noon - 120]), series])
    expect(ack).toMatchObject({ accepted: 2 })
    expect(refused).toMatchObject([
      { series: 0, index: 0, count: 2, reason: 'REFUSAL_REASON_UNKNOWN_SERIES' },
      { series: 1, index: 1, count: 1, reason: 'REFUSAL_REASON_VOLUME' },
    ])
    expect(refused[0]?.message).toBe(`symbol: got "GBPUSD", which ${suite.feed.key} does not list`)
    expect(await suite.times()).toEqual([noon - 180, noon - 60])
    await session.close()
  })

  test('a forming bar is refused unless a later one exists; a future bar is always refused', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const forming = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60, noon])])
    expect(forming.refused).toMatchObject([{ index: 1, reason: 'REFUSAL_REASON_NOT_CLOSED' }])
    const future = await session.bars('LIVE', [seriesAt('EURUSD', [noon, noon + 60])])
    expect(future.refused).toMatchObject([
      { index: 1, reason: 'REFUSAL_REASON_IN_THE_FUTURE' },
      { index: 0, reason: 'REFUSAL_REASON_NOT_CLOSED' },
    ])
    await suite.clock.advance(60_000)
    expect((await session.bars('LIVE', [seriesAt('EURUSD', [noon])])).ack).toMatchObject({ accepted: 1 })
    await session.close()
  })

  test("while a feed's clock is unknown, a later bar or the newest tick decides which bars have closed", async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.measured.key)
    const alone = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 600])])
    expect(alone.refused).toMatchObject([{ reason: 'REFUSAL_REASON_NOT_CLOSED' }])
    const followed = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 600, noon - 540])])
    expect(followed.ack).toMatchObject({ accepted: 1 })
    session.send({ heartbeat: { terminalConnected: true, newestTick: noon - 480 } })
    const ticked = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 540])])
    expect(ticked.ack).toMatchObject({ accepted: 1 })
    await session.close()
  })

  test('a revision more than five seconds ahead of ingest is refused', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const ahead = (ms: number) => seriesAt('EURUSD', [noon - 60], { revision: noon * 1000 + ms })
    const { refused } = await session.bars('LIVE', [ahead(5_001)])
    expect(refused).toMatchObject([{ reason: 'REFUSAL_REASON_REVISION' }])
    expect((await session.bars('LIVE', [ahead(5_000)])).ack).toMatchObject({ accepted: 1 })
    await session.close()
  })

  test('a scale must equal the digits; feeds with mid quotes also allow one more', async () => {
    const noon = suite.minute
    const bid = suite.connect()
    await bid.hello(suite.feed.key)
    const wrong = await bid.bars('LIVE', [seriesAt('EURUSD', [noon - 60], { scale: 6 })])
    expect(wrong.refused).toMatchObject([{ reason: 'REFUSAL_REASON_SCALE' }])
    const half = suite.connect()
    await half.hello(suite.mid.key)
    const at = noon + 10_800 - 60
    expect(
      (await half.bars('LIVE', [seriesAt('EURUSD', [at], { scale: 6, close: 1.100005 })])).ack,
    ).toMatchObject({ accepted: 1 })
    expect((await suite.stored('EURUSD', '1', suite.mid.key))[0]?.close).toBe(1.100005)
    await Promise.all([bid.close(), half.close()])
  })

  test('the resolution 30, and symbols that the feed does not list, are refused', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    for (const resolution of ['30', '240', '7', '__proto__']) {
      const { refused } = await session.bars('LIVE', [{ ...seriesAt('EURUSD', [noon - 86_400]), resolution }])
      expect(refused).toMatchObject([{ reason: 'REFUSAL_REASON_UNKNOWN_SERIES' }])
    }
    await session.close()
  })
})
