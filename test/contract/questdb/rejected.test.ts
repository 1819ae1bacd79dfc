import { describe, expect, test } from 'vitest'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { createBars } from '../../../services/stores/questdb/layout/statements.ts'
import { doctor, lineOf } from '../../support/questdb/doctor.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { batchOf, freshSeries, minuteBar, minuteBars, readList } from '../suites/sample-bars.ts'

const server = oneServer()
const untilSeen = { timeout: 60_000, interval: 20 }
const h1 = (prefix: string): string => `${prefix}bars_brokera_zero_h1`
/** Resolutions whose tables stay as they are: each has one table, and each connection has some. */
const others = ['10', '15', '120', '240', '1D', '1W', '1M'] as const

/** What another program may have done to the column of volumes, and the cure of the doctor. */
const damages = {
  'a narrower type': { column: 'v SHORT', cure: 'ALTER COLUMN v TYPE LONG' },
  'another name': { column: 'volume LONG', cure: 'ADD COLUMN v LONG' },
} as const

describe.each(Object.entries(damages))('a table with a column of %s', (_, { column, cure }) => {
  test('holds the rows that it rejects, and no rows of other tables, until it is repaired', {
    timeout: 120_000,
  }, async () => {
    const { stores, prefix, metric } = await openInTest(server())
    const good = others.map((resolution) => freshSeries(resolution))
    for (const series of good) await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    const made = createBars(h1(prefix), '60', undefined).replace('c DOUBLE, v LONG', `c DOUBLE, ${column}`)
    await server().exec(made)
    const series = freshSeries('60')
    const large = { ...minuteBar(0), volume: 70_000 }
    // The table is known now, so its rows share a request with others.
    await stores.bars.lastTimes(series.feed)
    let stored = 0
    const waiting = [large, minuteBar(1)].map((bar) =>
      stores.bars.write([batchOf(series, [bar])], 'live').then(() => (stored += 1)),
    )
    await Promise.all(good.map((each) => stores.bars.write([batchOf(each, [minuteBar(1)])], 'live')))
    for (const each of good) expect(await readList(stores.bars, each)).toEqual(minuteBars(0, 2))
    await expect
      .poll(() => stores.bars.ping().then(() => 'fine', String), untilSeen)
      .toMatch(new RegExp(`the table ${h1(prefix)} rejects rows .*: see "fxd doctor"`))
    expect(await metric('fxd_questdb_tables_out_of_order')).toBe(1)
    expect(stored).toBe(0)
    const found = lineOf(await doctor(server(), prefix), 'altered table') ?? ''
    const statement = `ALTER TABLE '${h1(prefix)}' ${cure}`
    expect(found).toContain(statement)

    await server().exec(statement)
    await Promise.all(waiting)
    expect(await readList(stores.bars, series)).toEqual([large, minuteBar(1)])
    expect(await stores.bars.ping().then(() => 'fine', String)).toBe('fine')
    expect(await metric('fxd_questdb_tables_out_of_order')).toBe(0)
  })
})

test('bars that QuestDB would store with changed values fail the write, with the name of their field, before anything is sent', async () => {
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
