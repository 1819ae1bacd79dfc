import { describe, expect, onTestFinished, test } from 'vitest'
import { Unavailable } from '../../../services/core/failure.ts'
import { barStatement } from '../../../services/stores/questdb/read/read-bars.ts'
import { openTcpProxy } from '../../support/clients/tcp-proxy.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { freshName } from '../suites/opened.ts'
import {
  always,
  batchOf,
  freshSeries,
  minuteBar,
  minuteBars,
  readList,
  seriesOf,
} from '../suites/sample-bars.ts'

const server = oneServer()
/** Delay of answers: longer than the deadline of rest, much shorter than that of ingest. */
const slowAnswerMs = 2_500

describe('the statement of a countback', () => {
  test('scans the index backwards up to its limit, without a sort', async () => {
    const { stores, prefix } = await openInTest(server())
    const series = seriesOf('EURUSD', '60')
    await stores.bars.write([batchOf(series, minuteBars(0, 10))], 'live')
    const sql = barStatement(`${prefix}bars_brokera_zero_h1`, 'DESC')
      .replace('$1', "'EURUSD'")
      .replace('$2', '0')
      .replace('$3', '2000000000000000')
      .replace('$4', '5')
    const plan = (await server().exec(`EXPLAIN ${sql}`)).flat().join('\n')
    expect(plan).toContain('Index backward scan on: sym')
    expect(plan).toContain('Interval backward scan')
    expect(plan).not.toMatch(/sort|top k/i)
  })
})

describe('reading bars', () => {
  test('a countback returns its full count of bars, with any number of revisions of each', async () => {
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    for (let revision = 1; revision <= 12; revision++)
      await stores.bars.write([batchOf(series, minuteBars(0, 50, revision))], 'backfill')
    for (const end of ['newest', 'oldest'] as const) {
      for (const count of [1, 7, 49, 50, 51]) {
        const wanted = minuteBars(0, 50, 12)
        expect(await readList(stores.bars, series, { take: { count, end } })).toEqual(
          end === 'newest' ? wanted.slice(-count) : wanted.slice(0, count),
        )
      }
    }
  })

  test('a minute with more revisions than one page is one bar', async () => {
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    const revisions = Array.from({ length: 20_000 }, (_, i) => minuteBar(5, i + 1))
    await stores.bars.write([batchOf(series, [...revisions, minuteBar(4), minuteBar(6)])], 'backfill')
    const wanted = [minuteBar(4), minuteBar(5, 20_000), minuteBar(6)]
    expect(await readList(stores.bars, series)).toEqual(wanted)
    for (const end of ['newest', 'oldest'] as const)
      expect(await readList(stores.bars, series, { take: { count: 3, end } })).toEqual(wanted)
  })

  test('of several rows with one revision the earliest accepted is the bar, for any order of rows in QuestDB', async () => {
    const { stores, prefix } = await openInTest(server())
    const series = seriesOf('EURUSD', '60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    const micros = minuteBar(0).time * 1_000_000
    for (const [taken, close] of [
      [10, 7],
      [5, 6],
      [8, 9],
    ])
      await server().exec(
        `INSERT INTO ${prefix}bars_brokera_zero_h1 VALUES (${micros}, 'EURUSD', 1, ${taken}, 5, 9, 5, ${close}, 3)`,
      )
    await expect.poll(() => readList(stores.bars, series)).toMatchObject([{ close: 6, revision: 1 }])
  })

  test('a row without a price is omitted and counted', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    const series = seriesOf('EURUSD', '60')
    await stores.bars.write([batchOf(series, [minuteBar(0), minuteBar(2)])], 'live')
    const micros = minuteBar(1).time * 1_000_000
    await server().exec(
      `INSERT INTO ${prefix}bars_brokera_zero_h1 VALUES (${micros}, 'EURUSD', 1, 1, 5, NULL, 5, 6, 3)`,
    )
    await expect
      .poll(async () => {
        await stores.bars.read({ series, ...always })
        return metric('fxd_questdb_broken_rows_total')
      })
      .toBeGreaterThan(0)
    expect(await readList(stores.bars, series)).toEqual([minuteBar(0), minuteBar(2)])
  })

  test('series whose names contain quotes and other special characters are found', async () => {
    const { stores } = await openInTest(server())
    for (const name of ["O'HARA", "a''b", "'", '"', '\\', 'a\\', '$1', '%s']) {
      const series = seriesOf(name, '60')
      await stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')
      expect(await readList(stores.bars, series), name).toEqual([minuteBar(1)])
    }
  })

  test('minutes of a feed with 4 buckets are stored in the 4 tables of its buckets', async () => {
    const { stores, prefix } = await openInTest(server())
    const names = Array.from({ length: 40 }, () => freshName('SYM'))
    await stores.bars.write(
      names.map((name) => batchOf(seriesOf(name), [minuteBar(0)])),
      'live',
    )
    const tables = (await server().exec('SELECT table_name FROM tables()')).flat().map(String)
    const ours = tables.filter((table) => table.startsWith(`${prefix}bars`)).sort()
    expect(ours).toEqual([0, 1, 2, 3].map((bucket) => `${prefix}bars_brokera_zero_m1_${bucket}of4`))
    const counts = await Promise.all(
      ours.map(async (table) => (await server().exec(`SELECT count() FROM ${table}`))[0]?.[0]),
    )
    expect(counts.every((count) => Number(count) > 0)).toBe(true)
    expect(counts.reduce<number>((sum, count) => sum + Number(count), 0)).toBe(40)
  })
})

describe('a QuestDB that answers slowly', () => {
  const openSlow = async (user: 'ingest' | 'rest') => {
    const { prefix, stores: writer } = await openInTest(server())
    const series = freshSeries('60')
    await writer.bars.write([batchOf(series, minuteBars(0, 3))], 'live')
    const proxy = await openTcpProxy(server().pg)
    onTestFinished(() => proxy.close())
    const { stores } = await openInTest({ http: server().http, pg: proxy }, { prefix, user })
    await readList(stores.bars, series, always)
    proxy.set({ down: { kind: 'delay', ms: slowAnswerMs } })
    return { stores, series }
  }

  test('ingest waits for slow reads, because a failure would end a session', async () => {
    const { stores, series } = await openSlow('ingest')
    expect(await readList(stores.bars, series, { lane: 'live' })).toHaveLength(3)
  })

  test('rest fails slow reads as Unavailable', async () => {
    const { stores, series } = await openSlow('rest')
    await expect(readList(stores.bars, series, { lane: 'live' })).rejects.toBeInstanceOf(Unavailable)
  })
})
