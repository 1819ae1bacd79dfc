import { expect, test } from 'vitest'
import { CollectorFixture, day, minute, minutes } from '../../../test/support/fixtures/collector-fixture.ts'
import { MemoryFolder } from '../../../test/support/fixtures/memory-folder.ts'
import { openSmallSpool } from '../../../test/support/fixtures/spool-fixture.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { type CallStream, dialGrpc } from '../connection/dial.ts'
import { createCollectorMetrics } from '../metrics.ts'

const suite = new CollectorFixture()
const patience = { timeout: 20_000 }
const keptMinutes = 5

/** A collector that spools bars for five minutes. Its connection can be cut, and another collector can get its lease. */
async function begin() {
  const source = suite.terminal()
  const bounds = { bytesMax: 1_000_000, ageMaxMs: keptMinutes * 60_000 }
  const spool = await openSmallSpool(new MemoryFolder(), { clock: suite.clock, ...bounds })
  const metrics = createMetrics({ ofProcess: false })
  let stream: CallStream | undefined
  let standsBy = false
  let areBarsLost = false
  suite.collect(source, {
    spool,
    metrics: createCollectorMetrics(metrics).of(suite.feed.key),
    dial: (peer, listener) => {
      stream = dialGrpc(peer, {
        over: (end) => listener.over(end),
        received(message) {
          standsBy = message.welcome?.active === false
          listener.received(message)
        },
      })
      const opened = stream
      return {
        send: (message) => {
          if (!(areBarsLost && Buffer.isBuffer(message))) opened.send(message)
        },
        end: () => opened.end(),
        cancel: () => opened.cancel(),
      }
    },
  })
  await suite.settled()
  await expect.poll(() => spool.depth.batches, patience).toBe(0)
  const { leases } = suite.fixture.stores
  const lease = `feed ${suite.feed.key}`
  return {
    source,
    spool,
    metrics,
    /** Ends its session; another collector becomes active before it reconnects. */
    async loseLease() {
      stream?.cancel()
      await expect.poll(() => leases.acquire(lease, 'other'), patience).toBeDefined()
      const isBack = async (): Promise<boolean> => {
        await suite.clock.advance(100)
        return standsBy
      }
      await expect.poll(isBack, patience).toBe(true)
    },
    /** Lets minutes pass while the other collector is active. */
    async stayOnStandby(count: number) {
      for (let i = 0; i < count * 30; i++) {
        await leases.renew(lease, 'other')
        await suite.clock.advance(2_000)
        if (i % 30 === 29) source.closeMinute()
      }
    },
    freeLease: () => leases.release(lease, 'other'),
    /** From now on no batch reaches ingest, so none is acknowledged. */
    loseBars: () => void (areBarsLost = true),
  }
}

test('spooled bars that expire after another collector took over are not counted as lost', async () => {
  const { spool, metrics, loseLease, stayOnStandby, freeLease, source } = await begin()
  await loseLease()
  await stayOnStandby(1)
  expect(spool.depth.bars).toBeGreaterThan(0)
  await stayOnStandby(1)
  expect(spool.depth.bars).toBeGreaterThan(0)
  expect(spool.depth.ageMs).toBe(0)
  await stayOnStandby(keptMinutes)
  expect(spool.depth.bars).toBe(0)
  expect(spool.lost).toEqual([])
  expect(spool.droppedBars).toBe(0)
  await freeLease()
  await suite.clock.advance(31_000)
  await expect.poll(() => metrics.total('fxd_collector_active', {}), patience).toBe(1)
  source.closeMinute()
  const end = suite.noon + (keptMinutes + 2) * minute
  await expect.poll(async () => (await suite.times()).at(-1), patience).toBe(end - minute)
  expect(await suite.fixture.metrics.total('fxd_ingest_alarms_total', { kind: 'gap' })).toBe(0)
}, 60_000)

test('spooled bars are sent when this collector is active again after another one was', async () => {
  const { spool, loseLease, stayOnStandby, freeLease, source } = await begin()
  await loseLease()
  await stayOnStandby(3)
  expect(spool.depth.bars).toBeGreaterThan(0)
  source.beforeRead = () => new Promise(() => undefined)
  await freeLease()
  await suite.clock.advance(31_000)
  await expect.poll(() => spool.depth.bars, patience).toBe(0)
  expect(await suite.times()).toContain(suite.noon)
}, 60_000)

test('after five minutes on standby this collector stores and claims every minute, and goes on', async () => {
  const { loseLease, stayOnStandby, freeLease, source } = await begin()
  await loseLease()
  await stayOnStandby(5)
  await freeLease()
  const newest = async (): Promise<number | undefined> => {
    await suite.clock.advance(1_000)
    return (await suite.times()).at(-1)
  }
  await expect.poll(newest, patience).toBeGreaterThanOrEqual(suite.noon + 4 * minute)
  await suite.clock.advance(60_000 - (suite.clock.utcMs() % 60_000))
  source.closeMinute()
  const end = suite.clock.utcMs() / 1_000
  await expect.poll(newest, patience).toBeGreaterThanOrEqual(end - minute)
  const times = (await suite.times()).filter((time) => time < end)
  expect(times).toEqual(minutes(suite.noon - 2 * day, end))
  await expect.poll(async () => (await suite.covered('EURUSD'))[0]?.[1], patience).toBeGreaterThanOrEqual(end)
}, 60_000)

test('bars that expire after this collector became active again are counted as lost', async () => {
  const { spool, metrics, loseLease, freeLease, loseBars, source } = await begin()
  await loseLease()
  await freeLease()
  const isActive = async (): Promise<number> => {
    await suite.clock.advance(1_000)
    return metrics.total('fxd_collector_active', {})
  }
  await expect.poll(isActive, patience).toBe(1)
  await suite.settled()
  await expect.poll(() => spool.depth.batches, patience).toBe(0)
  loseBars()
  await suite.clock.advance(30_000)
  source.closeMinute()
  const spooledBars = async (): Promise<number> => {
    await suite.clock.advance(1_000)
    return spool.depth.bars
  }
  await expect.poll(spooledBars, patience).toBeGreaterThan(0)
  for (let i = 0; i < (keptMinutes + 2) * 30; i++) await suite.clock.advance(2_000)
  expect(spool.depth.bars).toBe(0)
  expect(spool.droppedBars).toBeGreaterThan(0)
}, 60_000)
