import { expect, test } from 'vitest'
import { MemoryFolder } from '../../../test/support/fixtures/memory-folder.ts'
import { batch, openSmallSpool, timesIn } from '../../../test/support/fixtures/spool-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { utcMs } from '../../core/clocks/feed-clock.ts'
import { storedResolutions } from '../../core/feeds/resolution.ts'

const hour = 3_600_000

test('at the bound in bytes the oldest batches are dropped and named, and the bound is never exceeded', async () => {
  const bytesMax = 8_192
  const folder = new MemoryFolder()
  const spool = await openSmallSpool(folder, { bytesMax })
  for (let i = 1; i <= 400; i++) {
    await spool.append('live', batch(60 * i, i % 2 === 0 ? 'EURUSD' : 'GBPUSD')).kept
    expect(spool.depth.bytes).toBeLessThanOrEqual(bytesMax)
  }
  const left = await timesIn(spool)
  expect(left.at(-1)).toBe(60 * 400)
  expect(left).toEqual(Array.from({ length: left.length }, (_, i) => 60 * (401 - left.length + i)))
  const lost = 400 - left.length
  expect(spool.droppedBars).toBe(lost)
  const of = (symbol: string) => spool.lost.find((each) => each.symbol === symbol)
  expect(of('GBPUSD')).toMatchObject({ resolution: '1', from: 60 })
  expect(of('EURUSD')).toMatchObject({ resolution: '1', from: 120 })
  expect(Math.max(Number(of('GBPUSD')?.to), Number(of('EURUSD')?.to))).toBe(60 * lost + 60)
  expect(Number(of('GBPUSD')?.bars) + Number(of('EURUSD')?.bars)).toBe(lost)
  // The next run knows of the loss too, until ingest knows of it.
  const next = await openSmallSpool(
    folder.crash(() => 0),
    { bytesMax },
  )
  expect(next.lost).toEqual(spool.lost)
  next.acknowledgeLost()
  expect(next.lost).toEqual([])
})

test('at the bound in age batches older than a day are dropped and named', async () => {
  const clock = createVirtualClock()
  const folder = new MemoryFolder()
  const spool = await openSmallSpool(folder, { clock })
  await spool.append('live', batch(60)).kept
  await clock.advance(23 * hour)
  await spool.append('live', batch(120)).kept
  expect(spool.depth.ageMs).toBe(23 * hour)
  await clock.advance(2 * hour)
  await expect.poll(() => timesIn(spool)).toEqual([120])
  await expect
    .poll(() => spool.lost)
    .toEqual([{ symbol: 'EURUSD', resolution: '1', from: 60, to: 120, bars: 1 }])
  expect(spool.droppedBars).toBe(1)
})

test('a wall clock set a day ahead expires no batch, in this run or the next', async () => {
  const clock = createVirtualClock()
  let aheadMs = 0
  const jumping = { ...clock, utcMs: () => utcMs(clock.utcMs() + aheadMs) }
  const folder = new MemoryFolder()
  const spool = await openSmallSpool(folder, { clock: jumping })
  await spool.append('live', batch(60)).kept
  aheadMs = 25 * hour
  await clock.advance(hour)
  expect(await timesIn(spool)).toEqual([60])
  expect(spool.depth.ageMs).toBe(hour)
  // The clock is ahead at the start, as on a machine that reads the network time a little later.
  const next = await openSmallSpool(
    folder.crash(() => 0),
    { clock: jumping },
  )
  await clock.advance(hour / 2)
  expect(await timesIn(next)).toEqual([60])
  aheadMs = 0
  await clock.advance(2 * hour)
  aheadMs = 25 * hour
  await clock.advance(2 * hour)
  expect(await timesIn(next)).toEqual([60])
  expect(next.depth.ageMs).toBe(5.5 * hour)
  expect([spool.lost, next.lost]).toEqual([[], []])
})

test('batches of an earlier run keep their age and have at least an hour to be sent', async () => {
  const clock = createVirtualClock()
  const folder = new MemoryFolder()
  const spool = await openSmallSpool(folder, { clock })
  await spool.append('live', batch(60)).kept
  await spool.close()
  await clock.advance(70 * hour)
  const next = await openSmallSpool(
    folder.crash(() => 0),
    { clock },
  )
  expect(next.depth.ageMs).toBe(70 * hour)
  await clock.advance(hour - 60_000)
  expect(await timesIn(next)).toEqual([60])
  await clock.advance(2 * 60_000)
  await expect.poll(() => timesIn(next)).toEqual([])
  expect(next.droppedBars).toBe(1)
})

test('losses of a whole catalogue are known after a restart, with later batches', async () => {
  const clock = createVirtualClock()
  const folder = new MemoryFolder()
  const spool = await openSmallSpool(folder, { clock })
  const names = Array.from({ length: 10_000 }, (_, i) => `SHARE_WITH_A_LONG_NAME_${i}_CFD.XETRA`)
  const one = batch(60)[0]
  for (const resolution of storedResolutions) {
    const series = names.map((symbol) => ({ ...one, symbol, resolution }))
    for (let i = 0; i < names.length; i += 2_000) spool.append('live', series.slice(i, i + 2_000))
  }
  await clock.advance(25 * hour)
  await expect.poll(() => spool.droppedBars).toBe(names.length * storedResolutions.length)
  await spool.append('live', batch(120)).kept
  const next = await openSmallSpool(
    folder.crash(() => 0),
    { clock },
  )
  expect(next.lost).toEqual(spool.lost)
  expect(next.lost).toHaveLength(storedResolutions.length)
  expect(next.lost[0]).toEqual({ symbol: '', resolution: '1', from: 60, to: 120, bars: names.length })
  expect((await next.read(next.ids().at(-1) as number))?.series).toMatchObject([{ first: 120 }])
}, 30_000)

test('a disk that rejects a write is reported, and later batches are spooled again', async () => {
  const folder = new MemoryFolder()
  const spool = await openSmallSpool(folder)
  await spool.append('live', batch(60)).kept
  await spool.append('live', batch(60, 'GBPUSD')).kept
  folder.beforeSync = () => Promise.reject(new Error('no space left on device'))
  await expect(spool.append('live', batch(120)).kept).rejects.toThrow('no space left')
  expect(spool.failures).toBe(1)
  expect(spool.depth.batches).toBe(2)
  // The rejected bar must be read from the source again, and not as history.
  expect(spool.until('EURUSD', '1')).toBeUndefined()
  expect(spool.until('GBPUSD', '1')).toBe(60)
  folder.beforeSync = () => undefined
  await spool.append('live', batch(180)).kept
  expect(await timesIn(spool)).toEqual([60, 60, 180])
  expect(await timesIn(await openSmallSpool(folder.crash(() => 0)))).toContain(180)
})
