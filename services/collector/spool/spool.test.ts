import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MemoryFolder } from '../../../test/support/fixtures/memory-folder.ts'
import { batch, openSmallSpool, timesIn } from '../../../test/support/fixtures/spool-fixture.ts'
import { temporaryFolder } from '../../../test/support/fixtures/temporary-folder.ts'
import { createLog } from '../../platform/log/log.ts'
import { openDiskFolder } from './disk-folder.ts'
import { recordsIn } from './record.ts'

/** Levels in a line of the log. */
const warnLevel = 40
const errorLevel = 50

describe('spooled batches', () => {
  test('are read after any end, in order and byte for byte, without acknowledged ones', async () => {
    const path = temporaryFolder()
    const spool = await openSmallSpool(await openDiskFolder(path))
    const kept = [60, 120, 180].map((time) => spool.append('live', batch(time)))
    await Promise.all(kept.map((each) => each.kept))
    spool.remove(Number(kept[0]?.id))
    await spool.append('history', batch(60, 'GBPUSD')).kept
    await expect(openDiskFolder(path)).rejects.toThrow('is in use by another fxd')
    // A killed process closes nothing.
    const left = temporaryFolder()
    cpSync(path, left, { recursive: true })
    const next = await openSmallSpool(await openDiskFolder(left))
    // The acknowledged batch may appear again; no other may be missing or doubled.
    expect((await timesIn(next)).filter((time, i) => i > 0 || time !== 60)).toEqual([120, 180, 60])
    const last = await next.read(next.ids().at(-1) as number)
    expect(last?.kind).toBe('history')
    expect(
      Buffer.compare(last?.series[0]?.encoded as Uint8Array, batch(60, 'GBPUSD')[0]?.encoded as Uint8Array),
    ).toBe(0)
    await Promise.all([spool.close(), next.close()])
  })

  test('use no bytes on the disk once all were removed', async () => {
    const path = temporaryFolder()
    const spool = await openSmallSpool(await openDiskFolder(path))
    const { id, kept } = spool.append('live', batch(60))
    await kept
    expect(spool.depth).toMatchObject({ batches: 1, bars: 1 })
    spool.remove(id)
    await spool.close()
    expect(spool.depth).toMatchObject({ batches: 0, bars: 0, bytes: 0, ageMs: 0 })
    const files = readdirSync(path).filter((name) => name.endsWith('.spool'))
    expect(files.map((name) => readFileSync(join(path, name)).length)).toEqual([0])
  })

  test('that arrive during a write share the next write', async () => {
    const folder = new MemoryFolder()
    const spool = await openSmallSpool(folder)
    const all = Array.from({ length: 50 }, (_, i) => spool.append('live', batch(60 * i)).kept)
    await Promise.all(all)
    expect(folder.writes).toBeLessThanOrEqual(2)
  })

  test('are not reported as spooled before they are on the disk', async () => {
    const folder = new MemoryFolder()
    let sync: () => void = () => undefined
    folder.beforeSync = () => new Promise((resolve) => void (sync = resolve))
    const spool = await openSmallSpool(folder)
    let isKept = false
    const { kept } = spool.append('live', batch(60))
    const done = kept.then(() => void (isKept = true))
    await expect.poll(() => folder.writes).toBe(1)
    expect(isKept).toBe(false)
    expect((await timesIn(await openSmallSpool(folder.crash(() => 0)))).length).toBe(0)
    sync()
    await done
    expect(await timesIn(await openSmallSpool(folder.crash(() => 0)))).toEqual([60])
  })

  test('have the newest live bar of a series, also after a restart', async () => {
    const folder = new MemoryFolder()
    const spool = await openSmallSpool(folder)
    await spool.append('live', batch(120)).kept
    await spool.append('history', batch(600)).kept
    expect(spool.until('EURUSD', '1')).toBe(120)
    expect((await openSmallSpool(folder)).until('EURUSD', '1')).toBe(120)
    expect(spool.until('EURUSD', '5')).toBeUndefined()
  })
})

describe('the files after a crash', () => {
  test('a torn end is dropped, wherever it was torn', async () => {
    const path = temporaryFolder()
    const spool = await openSmallSpool(await openDiskFolder(path))
    for (const time of [60, 120]) await spool.append('live', batch(time)).kept
    await spool.close()
    const [name = ''] = readdirSync(path).filter((each) => each.endsWith('.spool'))
    const whole = readFileSync(join(path, name))
    for (let length = 0; length < whole.length; length += 5) {
      writeFileSync(join(path, name), whole)
      truncateSync(join(path, name), length)
      const next = await openSmallSpool(await openDiskFolder(path))
      const found = await timesIn(next)
      await next.close()
      expect(found).toEqual(length < whole.length / 2 ? [] : [60])
    }
  })

  test('a damaged byte drops only its own batch, and the log names the file and the bytes', async () => {
    const folder = new MemoryFolder()
    const spool = await openSmallSpool(folder)
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
      const next = await openSmallSpool(folder, { log })
      const hit = records.findLastIndex(({ offset }) => offset <= at)
      expect(await timesIn(next)).toEqual([60, 120, 180].filter((_, i) => i !== hit))
      const bytes = records[hit]?.length
      expect(next.unreadableBytes).toBe(bytes)
      const level = hit === 2 ? warnLevel : errorLevel
      expect(lines).toEqual([expect.objectContaining({ level, file: name, bytes })])
    }
  })

  test('a page of zeros in a file drops only the batches on it', async () => {
    const folder = new MemoryFolder()
    const spool = await openSmallSpool(folder)
    for (let i = 1; i <= 200; i++) await spool.append('live', batch(60 * i)).kept
    const [name = ''] = folder.names
    const bytes = await folder.read(name, 0, 1_000_000)
    const [from, to] = [4_096, 8_192]
    const records = [...recordsIn(bytes)]
    const isHit = records.map(({ offset, length }) => offset < to && offset + length > from)
    await folder.write(name, 0, bytes.fill(0, from, to))
    const next = await openSmallSpool(folder)
    expect(await timesIn(next)).toEqual(isHit.flatMap((is, i) => (is ? [] : [60 * (i + 1)])))
    expect(next.unreadableBytes).toBeGreaterThanOrEqual(to - from)
  })

  test('after any crashes, unacknowledged batches are there once and in order', async () => {
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
          let spool = await openSmallSpool(folder, { bytesMax: 1_000_000 })
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
              spool = await openSmallSpool(folder, { bytesMax: 1_000_000 })
              const found = await timesIn(spool)
              expect(found).toEqual([...new Set(found)].sort((a, b) => a - b))
              for (const kept of unacknowledged.keys()) expect(found).toContain(kept)
              unacknowledged.clear()
              spool.ids().forEach((id, i) => {
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
