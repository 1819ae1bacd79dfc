import { describe, expect, test } from 'vitest'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { Unavailable } from '../../../services/core/failure.ts'
import { noCounters } from '../../../services/core/keys/usage.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { writeDeadlineMs } from '../../../services/stores/write-queue/submission.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import {
  always,
  batchOf,
  freshFeed,
  freshSeries,
  minuteBar,
  minuteBars,
  readList,
  seriesOf,
} from '../suites/sample-bars.ts'

const server = oneServer()
const h1 = (prefix: string): string => `${prefix}bars_brokera_zero_h1`
const untilServed = { timeout: 150_000, interval: 50 }
/** Timeout of tests that start the server several times. */
const longTimeout = { timeout: 400_000 }

describe('an unavailable server', longTimeout, () => {
  test('that was killed during writes has every acknowledged bar after its start, and pending writes succeed', async () => {
    const { stores } = await openInTest(server())
    const [live, backfill] = [freshSeries('60'), freshSeries('60')]
    const acknowledged = { live: 0, backfill: 0 }
    let stop = false
    const write = async (lane: 'live' | 'backfill', size: number): Promise<void> => {
      const series = lane === 'live' ? live : backfill
      for (let at = 0; !stop; at += size) {
        const onCommitted = (): void => void (acknowledged[lane] = at + size)
        await stores.bars.write([batchOf(series, minuteBars(at, at + size))], lane, { onCommitted })
        expect(acknowledged[lane]).toBe(at + size)
      }
    }
    const writers = [write('live', 3), write('backfill', 2_000)]
    for (let kills = 0; kills < 2; kills++) {
      const before = { ...acknowledged }
      await expect
        .poll(
          () => acknowledged.live > before.live + 30 && acknowledged.backfill > before.backfill,
          untilServed,
        )
        .toBe(true)
      await server().kill()
      await server().start()
    }
    const before = { ...acknowledged }
    await expect
      .poll(() => acknowledged.live > before.live && acknowledged.backfill > before.backfill, untilServed)
      .toBe(true)
    stop = true
    await Promise.all(writers)
    expect(await readList(stores.bars, live)).toEqual(minuteBars(0, acknowledged.live))
    const stored = await stores.bars.read({ series: backfill, ...always })
    expect(stored.time).toHaveLength(acknowledged.backfill)
  })

  test('that was frozen for less than the deadline stores pending writes, each bar once', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    await server().freeze()
    const writes = Array.from({ length: 20 }, (_, i) =>
      stores.bars.write([batchOf(series, [minuteBar(i)])], 'live'),
    )
    await expect.poll(() => metric('fxd_questdb_write_failures_total'), untilServed).toBeGreaterThan(0)
    server().thaw()
    await Promise.all(writes)
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 20))
    // Each bar was sent at least twice and stored once; minute 0 has two rows because two callers wrote it.
    expect((await server().exec(`SELECT count() FROM ${h1(prefix)}`))[0]).toEqual([21])
  })

  test('that is frozen for longer than the deadline of a change of the registry fails that alone; bars and windows are stored once it answers', async () => {
    const { stores, prefix } = await openInTest(server())
    const series = freshSeries('60')
    const window = { ...series, from: feedSeconds(0), to: feedSeconds(60) }
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    await stores.windows.add([window])
    await server().freeze()
    const startedAt = systemClock.monotonicMs()
    const bars = stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')
    const windows = stores.windows.add([{ ...window, to: feedSeconds(120) }])
    const unmade = seriesOf('A', '60', freshFeed())
    const ofNewTable = stores.bars.write([batchOf(unmade, [minuteBar(0)])], 'live')
    const day = { keyId: 'k', day: '2026-01-01', counters: noCounters } as const
    await expect(stores.usageDays.add([day])).rejects.toBeInstanceOf(Unavailable)
    const tookMs = systemClock.monotonicMs() - startedAt
    server().thaw()
    expect(tookMs).toBeGreaterThan(writeDeadlineMs - 1_000)
    expect(tookMs).toBeLessThan(writeDeadlineMs + 2_000)
    await Promise.all([bars, windows, ofNewTable])
    expect(await readList(stores.bars, unmade)).toEqual([minuteBar(0)])
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 2))
    expect(await stores.windows.of(series.feed)).toEqual([{ ...window, to: feedSeconds(120) }])
    expect(await server().exec(`SELECT count() FROM ${h1(prefix)}`)).toEqual([[2]])
  })
})
