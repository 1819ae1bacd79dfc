import { expect, test } from 'vitest'
import { feedSeconds, toSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { clockReadingId } from '../../../services/core/registry/clock-history.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { defineFeed } from '../../support/fixtures/ingest-fixture.ts'
import { doctor, feed, hourSeconds, lineOf, withNewestBar } from '../../support/questdb/doctor.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { batchOf, minuteBar, seriesOf } from '../suites/sample-bars.ts'

const server = oneServer()
/** QuestDB acknowledges a statement before its effect is readable. */
const untilApplied = { timeout: 20_000, interval: 100 }

test('a table with bars on another clock than that of its feed is WRONG', async () => {
  const found = await doctor(server(), await withNewestBar(server(), 3 * hourSeconds))
  expect(found.code).toBe(1)
  expect(lineOf(found, 'clock')).toMatch(/^WRONG .*bars_brokera_zero_h1 is 3 hours ahead.*BROKERA:ZERO/)
})

test('a table of minutes without a new bar for weeks is a warning', async () => {
  const found = await doctor(server(), await withNewestBar(server(), -30 * 24 * hourSeconds, '1'))
  expect(found.code).toBe(0)
  expect(lineOf(found, 'clock')).toMatch(/^warning .*_m1_.* 30 days behind/)
})

test('a removed feed, whose bars are kept, is not examined', async () => {
  const prefix = await withNewestBar(server(), -30 * 24 * hourSeconds, '1', true)
  const found = await doctor(server(), prefix, {}, '--audit')
  expect(found.code).toBe(0)
  expect(lineOf(found, 'clocks')).toMatch(/^ok +clocks: 0 of 0 /)
  expect(lineOf(found, 'audit')).toMatch(/^nothing about audit/)
})

test('an empty table, for which QuestDB returns no newest row, is not a fault', async () => {
  const prefix = await withNewestBar(server(), -60)
  await server().exec(`TRUNCATE TABLE ${prefix}bars_brokera_zero_h1`)
  await expect
    .poll(async () => lineOf(await doctor(server(), prefix), 'clocks'), untilApplied)
    .toMatch(/^ok +clocks: 0 of 0 /)
})

test('bars ahead of a measured clock are WRONG; while the clock is not measured, its retention is a warning', async () => {
  const { stores, prefix } = await openInTest(server())
  const definition = defineFeed({ clock: { mode: 'Measured' }, retention: { '60': '400d' } })
  await stores.registry.append(0, [{ kind: 'feed', id: feed, body: { definition, hidden: false } }])
  const now = systemClock.utcMs()
  const time = feedSeconds(Math.floor(toSeconds(now) / 60) * 60)
  await stores.bars.write([batchOf(seriesOf('A', '60', feed), [{ ...minuteBar(0), time }])], 'live')
  const unknown = await doctor(server(), prefix)
  expect(unknown.code).toBe(0)
  expect(lineOf(unknown, 'clocks')).toMatch(/^ok .*the clocks of the others are unknown/)
  expect(lineOf(unknown, 'retention')).toMatch(/^warning .*BROKERA:ZERO keeps all bars/)
  const reading = { feed, source: 'Measured', offsetSeconds: 3 * hourSeconds, since: now } as const
  await stores.registry.append(1, [{ kind: 'clock', id: clockReadingId(reading), body: reading }])
  const measured = await doctor(server(), prefix)
  expect(lineOf(measured, 'clock')).toMatch(/^WRONG .*bars_brokera_zero_h1 is 3 hours ahead.*BROKERA:ZERO/)
  expect(lineOf(measured, 'retention')).toContain('nothing about')
})
