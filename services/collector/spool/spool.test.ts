import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MemoryFolder } from '../../../test/support/memory-folder.ts'
import { spoolBounds } from '../../../test/support/spool-bounds.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { barsOf } from '../../core/bar.ts'
import { feedSeconds, utcMs } from '../../core/feed-clock.ts'
import { storedResolutions } from '../../core/resolution.ts'
import { createLog, type Log, silentLog } from '../../platform/log.ts'
import type { Clock } from '../../ports/clock.ts'
import { encodeSeriesBars } from '../../wire/encode-bars.ts'
import { openDiskFolder } from './disk-folder.ts'
import type { SpoolFolder } from './folder.ts'
import { recordsIn, type SpooledSeries } from './record.ts'
import { openSpool, type Spool } from './spool.ts'

const hour = 3_600_000
/** As they stand in a line of the log. */
const warnLevel = 40
const errorLevel = 50

/** One bar of one series, told from others by its time. */
function batch(time: number, symbol = 'EURUSD'): SpooledSeries[] {
  const bars = barsOf([
    { time: feedSeconds(time), open: 1, high: 1, low: 1, close: 1, volume: time, revision: 7 },
  ])
  const encoded = encodeSeriesBars({ symbol, resolution: '1', scale: 5 }, bars)
  return [{ symbol, resolution: '1', first: feedSeconds(time), last: feedSeconds(time), count: 1, encoded }]
}

const open = (folder: SpoolFolder, more: { clock?: Clock; bytesMax?: number; log?: Log } = {}) =>
  openSpool({ folder, clock: createVirtualClock(), log: silentLog, ...spoolBounds, ...more })

async function timesIn(spool: Spool): Promise<number[]> {
  const records = await Promise.all(spool.ids.map((id) => spool.read(id)))
  return records.flatMap((record) => record?.series.map(({ first }) => Number(first)) ?? [])
}

function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'fxd-spool-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('what was kept', () => {
  test('is there after any end, in order and byte for byte, and what was acknowledged is not', async () => {
    const path = temporaryFolder()
    const spool = await open(await openDiskFolder(path))
    const kept = [60, 120, 180].map((time) => spool.append('live', batch(time)))
    await Promise.all(kept.map((each) => each.kept))
    spool.remove(Number(kept[0]?.id))
    await spool.append('history', batch(60, 'GBPUSD')).kept
    await expect(openDiskFolder(path)).rejects.toThrow('is in use by another fxd')
    // What a killed process leaves: nobody closes anything.
    const left = temporaryFolder()
    cpSync(path, left, { recursive: true })
    const next = await open(await openDiskFolder(left))
    // The acknowledged one may come once more; nothing else may be missing or doubled.
    expect((await timesIn(next)).filter((time, i) => i > 0 || time !== 60)).toEqual([120, 180, 60])
    const last = await next.read(next.ids.at(-1) as number)
    expect(last?.kind).toBe('history')
    expect(
      Buffer.compare(last?.series[0]?.encoded as Uint8Array, batch(60, 'GBPUSD')[0]?.encoded as Uint8Array),
    ).toBe(0)
    await Promise.all([spool.close(), next.close()])
  })

  test('an empty spool leaves nothing on the disk', async () => {
    const path = temporaryFolder()
    const spool = await open(await openDiskFolder(path))
    const { id, kept } = spool.append('live', batch(60))
    await kept
    expect(spool.depth).toMatchObject({ batches: 1, bars: 1 })
    spool.remove(id)
    await spool.close()
    expect(spool.depth).toEqual({ batches: 0, bars: 0, bytes: 0, ageMs: 0 })
    const files = readdirSync(path).filter((name) => name.endsWith('.spool'))
    expect(files.map((name) => readFileSync(join(path, name)).length)).toEqual([0])
  })

  test('of batches that come during a write all share the next one', async () => {
    const folder = new MemoryFolder()
    const spool = await open(folder)
    const all = Array.from({ length: 50 }, (_, i) => spool.append('live', batch(60 * i)).kept)
    await Promise.all(all)
    expect(folder.writes).toBeLessThanOrEqual(2)
  })

  test('nothing is said to be kept before it is on the disk', async () => {
    const folder = new MemoryFolder()
    let sync: () => void = () => undefined
    folder.beforeSync = () => new Promise((resolve) => void (sync = resolve))
    const spool = await open(folder)
    let isKept = false
    const { kept } = spool.append('live', batch(60))
    const done = kept.then(() => void (isKept = true))
    await expect.poll(() => folder.writes).toBe(1)
    expect(isKept).toBe(false)
    expect((await timesIn(await open(folder.crash(() => 0)))).length).toBe(0)
    sync()
    await done
    expect(await timesIn(await open(folder.crash(() => 0)))).toEqual([60])
  })

  test('the newest live bar of a series is known, over lives too', async () => {
    const folder = new MemoryFolder()
    const spool = await open(folder)
    await spool.append('live', batch(120)).kept
    await spool.append('history', batch(600)).kept
    expect(spool.until('EURUSD', '1')).toBe(120)
    expect((await open(folder)).until('EURUSD', '1')).toBe(120)
    expect(spool.until('EURUSD', '5')).toBeUndefined()
  })
})

describe('what a crash left', () => {
  test('a torn end is left out, wherever it was torn', async () => {
    const path = temporaryFolder()
    const spool = await open(await openDiskFolder(path))
    for (const time of [60, 120]) await spool.append('live', batch(time)).kept
    await spool.close()
    const [name = ''] = readdirSync(path).filter((each) => each.endsWith('.spool'))
    const whole = readFileSync(join(path, name))
    for (let length = 0; length < whole.length; length += 5) {
      writeFileSync(join(path, name), whole)
      truncateSync(join(path, name), length)
      const next = await open(await openDiskFolder(path))
      const found = await timesIn(next)
      await next.close()
      expect(found).toEqual(length < whole.length / 2 ? [] : [60])
    }
  })

  test('a damaged byte costs the batch it stands in, wherever it stands, and is told with its bytes', async () => {
    const folder = new MemoryFolder()
    const spool = await open(folder)
    for (const time of [60, 120, 180]) await spool.append('live', batch(time)).kept
    const [name = ''] = folder.names
    const whole = await folder.read(name, 0, 1_000_000)
    const records = [...recordsIn(whole)]
    expect(records).toHaveLength(3)
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = whole.slice()
      damaged[at] = (damaged[at] as number) ^ 0x81
      await folder.write(name, 0, damaged)
      const lines: unknown[] = []
      const log = createLog('warn', { write: (line) => void lines.push(JSON.parse(line)) })
      const next = await open(folder, { log })
      const hit = records.findLastIndex(({ offset }) => offset <= at)
      expect(await timesIn(next)).toEqual([60, 120, 180].filter((_, i) => i !== hit))
      const bytes = records[hit]?.length
      expect(next.unreadableBytes).toBe(bytes)
      const level = hit === 2 ? warnLevel : errorLevel
      expect(lines).toEqual([expect.objectContaining({ level, file: name, bytes })])
    }
  })

  test('a page of nothing in a file costs the batches it lies on and no others', async () => {
    const folder = new MemoryFolder()
    const spool = await open(folder)
    for (let i = 1; i <= 200; i++) await spool.append('live', batch(60 * i)).kept
    const [name = ''] = folder.names
    const bytes = await folder.read(name, 0, 1_000_000)
    const [from, to] = [4_096, 8_192]
    const records = [...recordsIn(bytes)]
    const isHit = records.map(({ offset, length }) => offset < to && offset + length > from)
    await folder.write(name, 0, bytes.fill(0, from, to))
    const next = await open(folder)
    expect(await timesIn(next)).toEqual(isHit.flatMap((is, i) => (is ? [] : [60 * (i + 1)])))
    expect(next.unreadableBytes).toBeGreaterThanOrEqual(to - from)
  })

  test('through any crashes: what was kept and not acknowledged is there, once, in order', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant('append' as const) },
      { weight: 3, arbitrary: fc.constant('acknowledge' as const) },
      { weight: 1, arbitrary: fc.constant('crash' as const) },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        async (steps, draws) => {
          const random = (): number => draws.next().value as number
          let folder = new MemoryFolder()
          let spool = await open(folder, { bytesMax: 1_000_000 })
          const unacknowledged = new Map<number, number>()
          const acknowledged = new Set<number>()
          let time = 0
          for (const what of steps) {
            if (what === 'append') {
              const { id, kept } = spool.append('live', batch((time += 60)))
              if (random() < 0.7) {
                await kept
                unacknowledged.set(time, id)
              }
            } else if (what === 'acknowledge') {
              const [oldest] = unacknowledged
              if (!oldest) continue
              spool.remove(oldest[1])
              unacknowledged.delete(oldest[0])
              acknowledged.add(oldest[0])
            } else {
              folder = folder.crash(random)
              spool = await open(folder, { bytesMax: 1_000_000 })
              const found = await timesIn(spool)
              expect(found).toEqual([...new Set(found)].sort((a, b) => a - b))
              for (const kept of unacknowledged.keys()) expect(found).toContain(kept)
              unacknowledged.clear()
              spool.ids.forEach((id, i) => {
                const of = found[i] as number
                if (!acknowledged.has(of)) unacknowledged.set(of, id)
              })
            }
          }
        },
      ),
    )
  })
})

describe('at its bounds', () => {
  test('in bytes: the oldest leave, what was lost is named, and the bound holds', async () => {
    const bytesMax = 8_192
    const folder = new MemoryFolder()
    const spool = await open(folder, { bytesMax })
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
    // Another life knows of it too, until ingest was told.
    const next = await open(
      folder.crash(() => 0),
      { bytesMax },
    )
    expect(next.lost).toEqual(spool.lost)
    next.told()
    expect(next.lost).toEqual([])
  })

  test('in age: batches older than a day leave and are named', async () => {
    const clock = createVirtualClock()
    const folder = new MemoryFolder()
    const spool = await open(folder, { clock })
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

  test('in age: a wall clock that is set a day on takes nothing out, in this life and at the start of the next', async () => {
    const clock = createVirtualClock()
    let aheadMs = 0
    const jumping = { ...clock, utcMs: () => utcMs(clock.utcMs() + aheadMs) }
    const folder = new MemoryFolder()
    const spool = await open(folder, { clock: jumping })
    await spool.append('live', batch(60)).kept
    aheadMs = 25 * hour
    await clock.advance(hour)
    expect(await timesIn(spool)).toEqual([60])
    expect(spool.depth.ageMs).toBe(hour)
    // Ahead already when it starts, as a machine without a clock of its own that asks the net a little later.
    const next = await open(
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

  test('in age: what an earlier life left is as old as it is, and is first given an hour to be sent', async () => {
    const clock = createVirtualClock()
    const folder = new MemoryFolder()
    const spool = await open(folder, { clock })
    await spool.append('live', batch(60)).kept
    await spool.close()
    await clock.advance(70 * hour)
    const next = await open(
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

  test('what was lost of a whole catalogue is known in the next life, with what came after it', async () => {
    const clock = createVirtualClock()
    const folder = new MemoryFolder()
    const spool = await open(folder, { clock })
    const names = Array.from({ length: 10_000 }, (_, i) => `SHARE_WITH_A_LONG_NAME_${i}_CFD.XETRA`)
    const one = batch(60)[0] as SpooledSeries
    for (const resolution of storedResolutions) {
      const series = names.map((symbol) => ({ ...one, symbol, resolution }))
      for (let i = 0; i < names.length; i += 2_000) spool.append('live', series.slice(i, i + 2_000))
    }
    await clock.advance(25 * hour)
    await expect.poll(() => spool.droppedBars).toBe(names.length * storedResolutions.length)
    await spool.append('live', batch(120)).kept
    const next = await open(
      folder.crash(() => 0),
      { clock },
    )
    expect(next.lost).toEqual(spool.lost)
    expect(next.lost).toHaveLength(storedResolutions.length)
    expect(next.lost[0]).toEqual({ symbol: '', resolution: '1', from: 60, to: 120, bars: names.length })
    expect((await next.read(next.ids.at(-1) as number))?.series).toMatchObject([{ first: 120 }])
  }, 30_000)

  test('a disk that takes nothing is told of, and what comes later is kept again', async () => {
    const folder = new MemoryFolder()
    const spool = await open(folder)
    folder.beforeSync = () => Promise.reject(new Error('no space left on device'))
    await expect(spool.append('live', batch(60)).kept).rejects.toThrow('no space left')
    expect(spool.failures).toBe(1)
    expect(spool.depth.batches).toBe(0)
    folder.beforeSync = () => undefined
    await spool.append('live', batch(120)).kept
    expect(await timesIn(spool)).toEqual([120])
    expect(await timesIn(await open(folder.crash(() => 0)))).toContain(120)
  })
})
