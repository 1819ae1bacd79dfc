import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fxd, type Outcome } from '../../../test/support/fixtures/cli-fixture.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { utcMs } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { type ClockReading, clockReadingId } from '../../core/registry/clock-history.ts'

const measured = defineFeed({ clock: { mode: 'Measured' } })
const fixed = defineFeed({ account: 'FIXED', clock: { mode: 'Fixed', offsetSeconds: 347_155_200 } })

let fixture: IngestFixture
beforeAll(async () => {
  fixture = await openIngestFixture([measured, fixed])
  writeFileSync(join(fixture.folder, 'admin-token'), testToken)
})
afterAll(() => fixture.remove())

const clockOf = (feed: FeedKey, options = ''): Promise<Outcome> =>
  fxd(`feeds clock ${feed} ${options}`, {
    FXD_GRPC_ADDR: fixture.address,
    FXD_TOKEN_FILE: join(fixture.folder, 'admin-token'),
  })

const note = (body: ClockReading): Promise<undefined> =>
  fixture.writer.change(() => ({
    rows: [{ kind: 'clock', id: clockReadingId(body), body }],
    result: undefined,
  }))

test('a measured clock is shown with all its offsets, and since when each is in effect', async () => {
  const unknown = await clockOf(measured.key)
  expect([unknown.code, unknown.out]).toEqual([
    0,
    'The clock of BROKERA:ZERO is not measured yet: that takes ticks of its terminal that move for two minutes.\n',
  ])
  const [summer, winter] = [utcMs(Date.UTC(2026, 7, 1, 6, 30)), utcMs(Date.UTC(2026, 10, 1, 22, 4, 5))]
  const renewed = utcMs(winter + 7_200_000)
  const of = { feed: measured.key, source: 'Measured' } as const
  await note({ ...of, offsetSeconds: -10_800, since: summer, measuredAt: summer })
  await note({ ...of, offsetSeconds: -7_200, since: winter, measuredAt: winter })
  await note({ ...of, offsetSeconds: -7_200, since: winter, measuredAt: renewed })
  expect((await clockOf(measured.key)).out).toBe(
    'EFFECTIVE FROM        OFFSET  CLOCK      SOURCE    LAST MEASURED\n' +
      '2026-08-01T06:30:00Z  -10800  UTC+03:00  Measured  2026-08-01T06:30:00Z\n' +
      '2026-11-01T22:04:05Z  -7200   UTC+02:00  Measured  2026-11-02T00:04:05Z\n',
  )
  expect(JSON.parse((await clockOf(measured.key, '--json')).out)).toMatchObject({
    feed: 'BROKERA:ZERO',
    mode: 'Measured',
    readings: [
      { effective_from: '2026-08-01T06:30:00Z', clock_offset_seconds: -10_800 },
      { clock_offset_seconds: -7_200, source: 'Measured', measured_at: '2026-11-02T00:04:05Z' },
    ],
  })
})

test('a fixed clock years behind UTC is shown in days, with no time of a measurement', async () => {
  const shown = async (): Promise<string> => (await clockOf(fixed.key)).out
  await expect.poll(shown).toMatch(/ {2}347155200 {2}UTC-4018d 00:00 {2}Fixed {3}-\n$/)
})

test('an unknown feed is refused by a sentence', async () => {
  const { code, err } = await clockOf('BROKERA:ZER0' as FeedKey)
  expect([code, err]).toEqual([1, expect.stringContaining('did you mean BROKERA:ZERO')])
})
