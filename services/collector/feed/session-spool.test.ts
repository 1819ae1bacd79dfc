import { describe, expect, test } from 'vitest'
import {
  CollectorFixture,
  day,
  hour,
  minute,
  minutes,
} from '../../../test/support/fixtures/collector-fixture.ts'
import { MemoryFolder } from '../../../test/support/fixtures/memory-folder.ts'
import { spoolBounds } from '../../../test/support/fixtures/spool-bounds.ts'
import { openSmallSpool } from '../../../test/support/fixtures/spool-fixture.ts'
import { wrongClock } from '../../../test/support/fixtures/virtual-clock.ts'
import type { FakeTerminal } from '../../../test/support/samples/fake-terminal.ts'
import { createMetrics } from '../../platform/metrics.ts'
import type { Stores } from '../../ports/stores.ts'
import { createCollectorMetrics } from '../metrics.ts'
import { NotLoadedYet } from '../source.ts'
import type { Spool } from '../spool/spool.ts'

const suite = new CollectorFixture()
const patience = { timeout: 20_000 }

const spoolIn = (folder: MemoryFolder, bytesMax = spoolBounds.bytesMax): Promise<Spool> =>
  openSmallSpool(folder, { clock: suite.clock, bytesMax })

async function closeMinutes(source: FakeTerminal, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await suite.clock.advance(60_000)
    source.closeMinute()
  }
}

/** From here on reads of the terminal fail; it only reports new bars. */
const forget = (source: FakeTerminal): void => {
  source.beforeRead = () => {
    throw new NotLoadedYet()
  }
}

/** A store whose writes never end, so that no batch is acknowledged. */
const hung = (stores: Stores): Stores => ({
  ...stores,
  bars: { ...stores.bars, write: () => new Promise(() => undefined) },
})

/** The same for the backfill lane only. */
const hungBackfill = (stores: Stores, onWrite: () => void): Stores => ({
  ...stores,
  bars: {
    ...stores.bars,
    write(batches, lane) {
      if (lane !== 'backfill') return stores.bars.write(batches, lane)
      onWrite()
      return new Promise(() => undefined)
    },
  },
})

describe('the spool', () => {
  test('after hours without ingest, spooled bars are sent in order, though the terminal no longer has them', async () => {
    const { noon } = suite
    const source = suite.terminal()
    const spool = await spoolIn(new MemoryFolder())
    suite.collect(source, { spool })
    await suite.settled()
    forget(source)
    await suite.restart(undefined, async () => {
      await closeMinutes(source, 3)
      // Longer than the reach of the live lane.
      suite.clock.freezeFor(7 * hour * 1_000)
      await closeMinutes(source, 2)
      expect(spool.depth.batches).toBeGreaterThanOrEqual(5)
    })
    await suite.clock.advance(31_000)
    const later = noon + 7 * hour
    const missed = [...minutes(noon, noon + 3 * minute), ...minutes(later + 3 * minute, later + 5 * minute)]
    await expect.poll(() => suite.pushed(), patience).toEqual(missed)
    await expect.poll(async () => (await suite.times()).slice(-5), patience).toEqual(missed)
    await expect.poll(() => spool.depth.batches, patience).toBe(0)
  }, 60_000)

  test.each(['away', 'there'])(
    'bars ahead of the clock, read while ingest is %s, do not stop the push after its return',
    async (when) => {
      const { noon } = suite
      const source = suite.terminal()
      const spool = await spoolIn(new MemoryFolder())
      suite.collect(source, { spool })
      await suite.settled()
      const future = noon + 3 * hour
      const readFuture = () =>
        source.listener.closed([source.closedBars('EURUSD.z', '1', future, future + 2 * minute)])
      // Without an answer they stay in the spool.
      if (when === 'there') await suite.restart(hung)
      if (when === 'there') await suite.clock.advance(31_000)
      if (when === 'there') readFuture()
      await suite.restart(undefined, async () => {
        if (when === 'away') readFuture()
        await closeMinutes(source, 2)
      })
      await suite.clock.advance(31_000)
      await closeMinutes(source, 1)
      // A session that begins late also reads the fourth minute.
      const first = (): readonly number[] => suite.pushed().slice(0, 3)
      await expect.poll(first, patience).toEqual(minutes(noon, noon + 3 * minute))
    },
    60_000,
  )

  test('after kills of collector and ingest a bar is pushed again with its first values and stored once', async () => {
    const { noon } = suite
    const source = suite.terminal()
    const folder = new MemoryFolder()
    suite.collect(source, { spool: await spoolIn(folder) })
    await suite.settled()
    await suite.restart(hung)
    await suite.clock.advance(31_000)
    await closeMinutes(source, 1)
    await expect.poll(() => suite.pushed(), patience).toEqual([noon])
    const found = suite.fixture.events.find(({ event }) => event.type === 'bars')
    const pushed = found?.event.type === 'bars' ? found.event.bars[0]?.bar : undefined
    const left = folder.crash(() => 0)
    // A collector that still ran after the restart would read the bar again.
    await suite.restart(undefined, () => suite.stopInTime())
    // A correction of the terminal must not replace the pushed values.
    source.shift = 1
    forget(source)
    suite.collect(source, { spool: await spoolIn(left) })
    // On a busy machine a session may end earlier, and the collector reads the same values again.
    const values = { ...pushed, revision: expect.any(Number) as number }
    await expect.poll(async () => (await suite.stored()).at(-1), patience).toEqual(values)
    expect((await suite.times()).filter((time) => time === noon)).toEqual([noon])
  }, 60_000)

  test('bars that the terminal missed while ingest was unavailable are read when it is available again', async () => {
    const { noon } = suite
    const source = suite.terminal()
    suite.collect(source, { spool: await spoolIn(new MemoryFolder()) })
    await suite.settled()
    await suite.restart(undefined, async () => {
      await closeMinutes(source, 1)
      await suite.clock.advance(3 * 60_000)
      source.interrupted()
      await closeMinutes(source, 1)
    })
    await suite.clock.advance(31_000)
    const missed = minutes(noon, noon + 5 * minute)
    await expect.poll(async () => (await suite.times()).slice(-5), patience).toEqual(missed)
    await expect.poll(async () => (await suite.covered('EURUSD')).length, patience).toBe(1)
  }, 60_000)

  test('minutes that a full disk rejected while ingest was unavailable are read again and pushed in order', async () => {
    const { noon } = suite
    const source = suite.terminal()
    const folder = new MemoryFolder()
    const spool = await spoolIn(folder)
    suite.collect(source, { spool })
    await suite.settled()
    await suite.restart(undefined, async () => {
      await closeMinutes(source, 1)
      folder.beforeSync = () => Promise.reject(new Error('no space left on device'))
      await closeMinutes(source, 2)
      await expect.poll(() => spool.failures, patience).toBeGreaterThan(0)
      folder.beforeSync = () => undefined
      await closeMinutes(source, 2)
    })
    await suite.clock.advance(31_000)
    const missed = minutes(noon, noon + 5 * minute)
    await expect.poll(() => suite.pushed(), patience).toEqual(missed)
    await expect.poll(async () => (await suite.times()).slice(-5), patience).toEqual(missed)
  }, 60_000)

  test('when the clock is set during a session, what ingest refused is sent again from the spool, in order', async () => {
    const { noon } = suite
    const source = suite.terminal()
    const spool = await spoolIn(new MemoryFolder())
    const clock = wrongClock(suite.clock)
    suite.collect(source, { spool, clock })
    await suite.settled()
    await closeMinutes(source, 1)
    await expect.poll(() => suite.pushed().at(-1), patience).toBe(noon)
    await expect.poll(() => spool.depth.batches, patience).toBe(0)
    suite.fixture.events.length = 0
    forget(source)
    clock.aheadMs = 30_000
    source.shift = 3
    source.listener.closed([source.closedBars('EURUSD.z', '1', noon, noon + minute)])
    await closeMinutes(source, 3)
    const inTime = async (): Promise<number> => {
      await suite.clock.advance(1_000)
      return spool.depth.batches
    }
    await expect.poll(inTime, patience).toBe(0)
    expect(suite.pushed()).toEqual(minutes(noon + minute, noon + 4 * minute))
    const wanted = source.bars('1', noon, noon + 4 * minute)
    expect((await suite.stored()).slice(-4).map(({ close }) => close)).toEqual([...wanted.close])
  }, 60_000)

  test('a correction that arrived while ingest was unavailable is stored and not pushed', async () => {
    const { noon } = suite
    const source = suite.terminal()
    suite.collect(source, { spool: await spoolIn(new MemoryFolder()) })
    await suite.settled()
    await closeMinutes(source, 2)
    await expect.poll(() => suite.pushed().slice(-2), patience).toEqual([noon, noon + minute])
    forget(source)
    await suite.restart(undefined, async () => {
      source.shift = 3
      source.listener.closed([source.closedBars('EURUSD.z', '1', noon, noon + minute)])
    })
    await suite.clock.advance(31_000)
    const [corrected] = source.bars('1', noon, noon + minute).close
    const closeAt = async () => (await suite.stored()).find(({ time }) => time === noon)?.close
    await expect.poll(closeAt, patience).toBe(corrected)
    expect(suite.pushed()).toEqual([])
  }, 60_000)

  test('ingest shows how many bars wait in the spool, and for how long', async () => {
    const spool = await spoolIn(new MemoryFolder())
    await suite.restart(hung)
    suite.collect(suite.terminal(), { spool })
    await expect.poll(() => spool.depth.bars, patience).toBeGreaterThan(350)
    await suite.clock.advance(90_000)
    const of = (name: string) => suite.fixture.metrics.total(`fxd_ingest_${name}`, { feed: suite.feed.key })
    await expect.poll(() => of('spool_age_seconds'), patience).toBeGreaterThanOrEqual(80)
    expect(await of('spooled_bars')).toBe(spool.depth.bars)
    await suite.restart()
    await suite.clock.advance(31_000)
    await expect.poll(() => spool.depth.bars, patience).toBe(0)
    await suite.clock.advance(5_000)
    await expect.poll(() => of('spooled_bars'), patience).toBe(0)
  }, 60_000)

  test('history without an Ack is not spooled, and is read again after a restart of the collector', async () => {
    const { noon } = suite
    const folder = new MemoryFolder()
    const first = await spoolIn(folder)
    let writes = 0
    await suite.restart((stores) => hungBackfill(stores, () => (writes += 1)))
    suite.collect(suite.terminal(), { spool: first })
    await expect.poll(() => writes, patience).toBeGreaterThan(0)
    await expect.poll(() => first.depth.bars, patience).toBe(0)
    const left = folder.crash(() => 0)
    await suite.restart(undefined, () => suite.stopInTime())
    suite.collect(suite.terminal(), { spool: await spoolIn(left) })
    const wanted = minutes(noon - 2 * day + 5 * minute, noon)
    await expect.poll(() => suite.times(), patience).toEqual(expect.arrayContaining(wanted))
  }, 60_000)

  test('bars dropped at the bound are reported to ingest, and the others arrive', async () => {
    const { noon } = suite
    const source = suite.terminal()
    const spool = await spoolIn(new MemoryFolder(), 1_024)
    const metrics = createMetrics({ ofProcess: false })
    suite.collect(source, { spool, metrics: createCollectorMetrics(metrics).of(suite.feed.key) })
    await suite.settled()
    await closeMinutes(source, 1)
    await expect.poll(() => suite.pushed().at(-1), patience).toBe(noon)
    await expect.poll(() => spool.depth.batches, patience).toBe(0)
    await expect.poll(() => spool.lost, patience).toEqual([])
    const lostBefore = spool.droppedBars
    forget(source)
    await suite.restart(undefined, () => closeMinutes(source, 30))
    expect(spool.lost).toMatchObject([{ symbol: 'EURUSD', resolution: '1', from: noon + minute }])
    const lostBars = spool.droppedBars - lostBefore
    expect(lostBars).toBeGreaterThan(5)
    expect(await metrics.total('fxd_collector_spool_dropped_bars_total', {})).toBe(spool.droppedBars)
    await suite.clock.advance(31_000)
    await expect.poll(() => suite.pushed().length, patience).toBe(30 - lostBars)
    expect(await suite.fixture.metrics.total('fxd_ingest_alarms_total', { kind: 'gap' })).toBeGreaterThan(0)
    await expect.poll(() => spool.lost, patience).toEqual([])
  }, 60_000)

  test('metrics report how many bars wait', async () => {
    const source = suite.terminal()
    const spool = await spoolIn(new MemoryFolder())
    const metrics = createMetrics({ ofProcess: false })
    const of = (name: string, labels = {}) => metrics.total(`fxd_collector_${name}`, labels)
    suite.collect(source, { spool, metrics: createCollectorMetrics(metrics).of(suite.feed.key) })
    await suite.settled()
    await closeMinutes(source, 1)
    await expect.poll(() => of('acked_bars_total', { lane: 'live' }), patience).toBeGreaterThanOrEqual(360)
    await expect.poll(() => of('spool_bars'), patience).toBe(0)
    expect(await of('active')).toBe(1)
    await suite.restart(undefined, async () => {
      await closeMinutes(source, 5)
      expect(await of('active')).toBe(0)
      expect(await of('spool_bars')).toBe(5)
      expect(await of('spool_bytes')).toBeGreaterThan(300)
      expect(await of('spool_limit_bytes')).toBe(spoolBounds.bytesMax)
      expect(await of('spool_age_seconds')).toBe(240)
    })
    await suite.clock.advance(31_000)
    await expect.poll(() => of('spool_bars'), patience).toBe(0)
    expect(await of('sessions_total')).toBe(2)
    expect(await of('sent_bars_total')).toBeGreaterThanOrEqual(await of('acked_bars_total'))
    expect(await of('reconnects_total')).toBeGreaterThan(0)
    expect((await metrics.render()).text).not.toMatch(/EURUSD/)
  }, 60_000)
})
