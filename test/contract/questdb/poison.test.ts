import { describe, expect, test } from 'vitest'
import type { RevisedBar } from '../../../services/core/bars/bar.ts'
import type { Series, SeriesBars } from '../../../services/core/bars/series.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { Unavailable } from '../../../services/core/failure.ts'
import { createBars } from '../../../services/stores/questdb/layout/statements.ts'
import { rejectedRowsMax } from '../../../services/stores/questdb/write/rejected-rows.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import {
  always,
  batchOf,
  freshSeries,
  minuteBar,
  minuteBars,
  readList,
  startWrite,
} from '../suites/sample-bars.ts'

const server = oneServer()
const untilSeen = { timeout: 60_000, interval: 5 }
const h1 = (prefix: string): string => `${prefix}bars_brokera_zero_h1`
/** Makes a table as another program could: its volumes are at most 32,767. */
const makeNarrow = (prefix: string) =>
  server().exec(createBars(h1(prefix), '60', undefined).replace('c DOUBLE, v LONG', 'c DOUBLE, v SHORT'))
const refusedVolume = 70_000
/** Bars of which such a table rejects every `every`th. */
const spoiltBars = (count: number, every: number): RevisedBar[] =>
  minuteBars(0, count).map((bar, i) => ({ ...bar, volume: i % every === 0 ? refusedVolume : 1 }))
/** Resolutions whose tables stay as they are: each has one table. */
const others = ['10', '15', '120', '240', '1D', '1W', '1M'] as const

describe('rows that QuestDB rejects', () => {
  test('do not affect the other tables of their request', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    await makeNarrow(prefix)
    const [narrow, other] = [freshSeries('60'), freshSeries('240')]
    const batch = [batchOf(other, [minuteBar(0)]), batchOf(narrow, [{ ...minuteBar(0), volume: 70_000 }])]
    await stores.bars.write([...batch, batchOf(narrow, [minuteBar(1)])], 'live')
    expect(await readList(stores.bars, other)).toEqual([minuteBar(0)])
    expect(await readList(stores.bars, narrow)).toEqual([minuteBar(1)])
    expect(await metric('fxd_questdb_parked_rows_total')).toBe(1)
  })

  test('are found among good rows, parked and counted; the good rows are stored', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    await makeNarrow(prefix)
    const series = freshSeries('60')
    const list = minuteBars(0, 6_000).map((bar, i) => ({
      ...bar,
      volume: i === 17 || i === 5_500 ? 70_000 : 1,
    }))
    await stores.bars.write([batchOf(series, list)], 'backfill')
    const stored = await stores.bars.read({ series, ...always })
    expect(stored.time).toHaveLength(5_998)
    expect(await metric('fxd_questdb_parked_rows_total')).toBe(2)
    const parked = await server().exec(`SELECT reason, line FROM ${prefix}parked`)
    expect(parked).toHaveLength(2)
    for (const [reason, line] of parked) {
      expect(String(reason)).toContain('v')
      const text = Buffer.from(String(line), 'base64').toString('latin1')
      expect(text.startsWith(`${h1(prefix)},sym=`)).toBe(true)
      expect(text).toContain('v=70000i')
    }
  })

  test('do not delay other writes while they are searched for, and all 100 are parked', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    await makeNarrow(prefix)
    const [narrow, other] = [freshSeries('60'), freshSeries('240')]
    await stores.bars.write([batchOf(other, [minuteBar(0)])], 'live')
    const list = spoiltBars(5_000, 50)
    let isCommitted = false
    const storing = stores.bars.write([batchOf(narrow, list)], 'live', {
      onCommitted: () => (isCommitted = true),
    })
    await expect.poll(() => metric('fxd_questdb_rejected_rows_pending'), untilSeen).toBe(5_000)
    const beside: Promise<void>[] = []
    for (let minute = 1; minute <= 3; minute++) {
      const { committed, whole } = startWrite(stores.bars, batchOf(other, [minuteBar(minute)]), 'live')
      beside.push(whole)
      await committed
    }
    expect(isCommitted).toBe(false)
    await Promise.all([storing, ...beside])
    expect(await readList(stores.bars, other)).toEqual(minuteBars(0, 4))
    expect(await readList(stores.bars, narrow)).toEqual(list.filter(({ volume }) => volume === 1))
    expect(await metric('fxd_questdb_parked_rows_total')).toBe(100)
    expect(await server().exec(`SELECT count() FROM ${prefix}parked`)).toEqual([[100]])
    expect(await metric('fxd_questdb_rejected_rows_pending')).toBe(0)
  })

  test('of the live lane are all parked, for any number, so that later rows of the feed are stored', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    await makeNarrow(prefix)
    const series = freshSeries('60')
    const list = spoiltBars(1_000, 2)
    await stores.bars.write([batchOf(series, list)], 'live')
    expect(await readList(stores.bars, series)).toEqual(list.filter(({ volume }) => volume === 1))
    expect(await metric('fxd_questdb_parked_rows_total')).toBe(500)
    expect(await server().exec(`SELECT count() FROM ${prefix}parked`)).toEqual([[500]])
  })

  test('of a backfill write are not parked above 128: the write fails, ping fails, and the write succeeds once the table is right', {
    timeout: 90_000,
  }, async () => {
    const { stores, prefix, metric } = await openInTest(server())
    await makeNarrow(prefix)
    const [narrow, other] = [freshSeries('60'), freshSeries('240')]
    const list = spoiltBars(1_000, 2)
    const write = () =>
      stores.bars.write([batchOf(narrow, list), batchOf(other, [minuteBar(0)])], 'backfill').then(
        () => 'stored',
        (cause: Error) => `${cause.constructor.name}: ${String(cause.cause)}`,
      )
    expect(await write()).toMatch(
      /^Unavailable: Error: more than 128 rows of one write were rejected, the last for: .*v/s,
    )
    await stores.bars.ping()
    await expect
      .poll(async () => (await write()) && stores.bars.ping().then(() => 'fine', String), untilSeen)
      .toMatch('unavailable')
    await stores.bars.write([batchOf(other, [minuteBar(1)])], 'live')
    expect(await readList(stores.bars, other)).toEqual(minuteBars(0, 2))
    expect(await metric('fxd_questdb_parked_rows_total')).toBe(0)

    await server().exec(`ALTER TABLE ${h1(prefix)} ALTER COLUMN v TYPE LONG`)
    await expect.poll(write, untilSeen).toBe('stored')
    expect(await readList(stores.bars, narrow)).toEqual(list)
  })

  test('of more batches than can be searched at once fail their writes as Unavailable, and are parked by a retry', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    await makeNarrow(prefix)
    await stores.bars.write([batchOf(freshSeries('240'), [minuteBar(0)])], 'live')
    const batches = Array.from({ length: 2 * (rejectedRowsMax / 5_000) }, () =>
      batchOf(freshSeries('60'), spoiltBars(5_000, 1_000)),
    )
    const write = (batch: SeriesBars) => stores.bars.write([batch], 'live')
    const outcomes = await Promise.allSettled(batches.map(write))
    const failed = batches.filter((_, i) => outcomes[i]?.status === 'rejected')
    expect(failed.length).toBeGreaterThan(0)
    expect(failed.length).toBeLessThan(batches.length)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(Unavailable)
    for (const batch of failed) await write(batch)
    expect(await metric('fxd_questdb_parked_rows_total')).toBe(5 * batches.length)
  }, 180_000)

  test('for a missing column fail their own write, but no write that shared a request with it', async () => {
    const { stores, prefix } = await openInTest(server())
    const good = others.map((resolution) => freshSeries(resolution))
    // Makes each connection write to a table without invalid rows too.
    for (const series of good) await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    await server().exec(
      createBars(h1(prefix), '60', undefined).replace('c DOUBLE, v LONG', 'c DOUBLE, volume LONG'),
    )
    // The table is known now, so its rows may share a request with others.
    await stores.bars.lastTimes(freshSeries('60').feed)
    const write = (series: Series) => stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')
    const [first, second, ...kept] = await Promise.allSettled(
      [freshSeries('60'), freshSeries('60'), ...good].map(write),
    )
    for (const outcome of [first, second])
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) as unknown })
    expect(kept.map(({ status }) => status)).toEqual(good.map(() => 'fulfilled'))
    for (const series of good) expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 2))
  })

  test('for another column name fail the write and are not parked', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    await server().exec(
      createBars(h1(prefix), '60', undefined).replace('c DOUBLE, v LONG', 'c DOUBLE, volume LONG'),
    )
    const write = stores.bars.write([batchOf(freshSeries('60'), minuteBars(0, 100))], 'live')
    await expect(write).rejects.toMatchObject({
      cause: expect.objectContaining({ message: expect.stringContaining('column') as unknown }) as unknown,
    })
    expect(await metric('fxd_questdb_parked_rows_total')).toBe(0)
  })

  test('or would store with changed values fail the write, with the name of their field, before anything is sent', async () => {
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    const broken = [
      { open: Number.NaN },
      { high: Number.POSITIVE_INFINITY },
      { low: Number.NEGATIVE_INFINITY },
      { close: Number.NaN },
      { volume: 1.5 },
      { volume: Number.NaN },
      { volume: 2 ** 60 },
      { time: feedSeconds(-60) },
      { time: feedSeconds(1_700_000_000_000) },
    ]
    for (const each of broken) {
      const write = stores.bars.write([batchOf(series, [minuteBar(0), { ...minuteBar(1), ...each }])], 'live')
      await expect(write, JSON.stringify(each)).rejects.toThrow(
        `${series.symbol} at 60 has the ${Object.keys(each)[0]}`,
      )
    }
    expect(await readList(stores.bars, series)).toEqual([])
  })
})
