import { expect, test } from 'vitest'
import { feedSeconds, toSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { defineFeed } from '../../support/fixtures/ingest-fixture.ts'
import { doctor, feed, hourSeconds, lineOf } from '../../support/questdb/doctor.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { batchOf, minuteBar, seriesOf } from '../suites/sample-bars.ts'

const server = oneServer()
/** QuestDB acknowledges a statement before its effect is readable. */
const untilApplied = { timeout: 20_000, interval: 100 }

test('--audit warns about days with fewer bars than another resolution requires', async () => {
  const { stores, prefix } = await openInTest(server())
  const definition = defineFeed({ clock: { mode: 'UTC' } })
  await stores.registry.append(0, [{ kind: 'feed', id: feed, body: { definition, hidden: false } }])
  const daySeconds = 24 * hourSeconds
  const first = (Math.floor(toSeconds(systemClock.utcMs()) / daySeconds) - 12) * daySeconds
  const every = (seconds: number) =>
    Array.from({ length: (10 * daySeconds) / seconds }, (_, i) => ({
      ...minuteBar(0),
      time: feedSeconds(first + i * seconds),
    }))
  const [fives, hours] = [seriesOf('A', '5', feed), seriesOf('A', '60', feed)]
  const lost = ({ time }: { time: number }) =>
    time >= first + 5 * daySeconds && time < first + 5.8 * daySeconds
  const kept = every(300).filter((bar) => !lost(bar))
  await stores.bars.write([batchOf(fives, kept), batchOf(hours, every(hourSeconds))], 'backfill')
  const span = { from: feedSeconds(first), to: feedSeconds(first + 10 * daySeconds) }
  await stores.windows.add(
    [fives, hours].map(({ symbol, resolution }) => ({ feed, symbol, resolution, ...span })),
  )
  // 57.6 of 288 bars of 5 minutes are left on that day. The 24 hours require only 23 of them and hide the loss.
  // Bars of 10 minutes show it.
  expect(lineOf(await doctor(server(), prefix, {}, '--audit'), 'audit')).toMatch(/^ok /)
  const tens = seriesOf('A', '10', feed)
  await stores.bars.write([batchOf(tens, every(600))], 'backfill')
  await stores.windows.add([{ feed, symbol: tens.symbol, resolution: '10', ...span }])
  expect(lineOf(await doctor(server(), prefix, {}, '--audit'), 'audit')).toMatch(
    /^warning .*BROKERA:ZERO at resolution 5: 1 day of 1 symbol acknowledged as complete with at least 87 bars fewer/,
  )
})

test('--audit reports a lost partition inside acknowledged windows, and bars outside all windows', async () => {
  const { stores, prefix } = await openInTest(server())
  const definition = defineFeed({ clock: { mode: 'UTC' } })
  await stores.registry.append(0, [{ kind: 'feed', id: feed, body: { definition, hidden: false } }])
  const daySeconds = 24 * hourSeconds
  const noon = Math.floor(toSeconds(systemClock.utcMs()) / daySeconds) * daySeconds - daySeconds / 2
  const days = Array.from({ length: 30 }, (_, i) => noon - (32 - i) * daySeconds)
  const bars = days.map((at) => ({ ...minuteBar(0), time: feedSeconds(at) }))
  const [minutes, hours] = [seriesOf('A', '1', feed), seriesOf('A', '60', feed)]
  await stores.bars.write([batchOf(minutes, bars), batchOf(hours, bars)], 'backfill')
  // A second revision is still one bar.
  await stores.bars.write(
    [batchOf(minutes, [{ ...minuteBar(0, 9), time: feedSeconds(noon - 20 * daySeconds) }])],
    'backfill',
  )
  const span = { from: feedSeconds(noon - 40 * daySeconds), to: feedSeconds(noon) }
  const windowOf = ({ symbol, resolution }: typeof minutes) => ({ feed, symbol, resolution, ...span })
  await stores.windows.add([windowOf(minutes)])
  expect(lineOf(await doctor(server(), prefix), 'audit')).toContain('nothing about audit')
  const unclaimed = await doctor(server(), prefix, {}, '--audit')
  expect(lineOf(unclaimed, 'audit')).toMatch(
    /^warning .*BROKERA:ZERO at resolution 60: 30 days of 1 symbol with bars outside/,
  )
  expect(unclaimed.code).toBe(0)

  await stores.windows.add([windowOf(hours)])
  expect(lineOf(await doctor(server(), prefix, {}, '--audit'), 'audit')).toMatch(
    /^ok .*agree on 60 days of 2 series, 60 bars$/,
  )
  const table = (await server().exec('SELECT table_name FROM tables()'))
    .flat()
    .map(String)
    .filter((name) => name.startsWith(`${prefix}bars_brokera_zero_m1_`))
  const counts = await Promise.all(table.map((name) => server().exec(`SELECT count() FROM ${name}`)))
  const full = table[counts.findIndex(([row]) => Number(row?.[0]) >= 30)]
  const weeks = await server().exec(`SELECT name FROM table_partitions('${full}') WHERE numRows = 7`)
  await server().exec(`ALTER TABLE ${full} DROP PARTITION LIST '${String(weeks[1]?.[0])}'`)
  await expect
    .poll(async () => lineOf(await doctor(server(), prefix, {}, '--audit'), 'audit'), untilApplied)
    .toMatch(
      /^WRONG .*BROKERA:ZERO at resolution 1: 7 days of 1 symbol acknowledged as complete without a bar.*Cure: import/,
    )
  expect((await doctor(server(), prefix, {}, '--audit')).code).toBe(1)
})
