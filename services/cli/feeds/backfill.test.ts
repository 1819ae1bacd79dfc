import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import { type CliFixture, openCliFixture } from '../../../test/support/fixtures/cli-fixture.ts'
import { decodeWindows } from '../../wire/window-times.ts'

let fixture: CliFixture
beforeAll(async () => {
  fixture = await openCliFixture()
})
afterAll(() => fixture.close())

/** Monday, 2026-11-02. */
const monday = Date.UTC(2026, 10, 2) / 1_000
const daySeconds = 86_400

const openSession = async (): Promise<RawSession> => {
  const token = readFileSync(join(fixture.home, 'data', 'token'), 'utf8').trim()
  const session = new RawSession(fixture.environment.FXD_GRPC_ADDR, token)
  await session.hello('BROKERA:ZERO')
  return session
}

/** The windows of a series that a new session is told. */
const knownTo = (session: RawSession, symbol: string) =>
  session.received
    .flatMap(({ known }) => known?.series ?? [])
    .filter((series) => series.symbol === symbol && series.resolution === '1')
    .flatMap(({ windows }) => decodeWindows(windows))

describe('fxd backfill', () => {
  test('ends the active session, and the next one is told that the range is missing', async () => {
    const session = await openSession()
    await session.bars('BACKFILL', [seriesAt('EURUSD', [monday, monday + 60])])
    await session.window('1', monday, monday + 3 * daySeconds, 'EURUSD')
    const answer = await fixture.answer(
      'backfill BROKERA:ZERO EURUSD --from 2026-11-03 --to 2026-11-03T12:00 --resolution 1',
    )
    const [from, to] = [monday + daySeconds, monday + 1.5 * daySeconds]
    expect(answer).toEqual({
      feed: 'BROKERA:ZERO',
      symbol: 'EURUSD',
      ranges: [{ resolution: '1', from, to, symbols: 1 }],
    })
    expect(await session.ended).toEqual({
      code: 'UNAVAILABLE',
      details: 'windows of BROKERA:ZERO were withdrawn; connect again',
    })
    const next = await openSession()
    expect(knownTo(next, 'EURUSD')).toEqual([
      { from: monday, to: from },
      { from: to, to: monday + 3 * daySeconds },
    ])
    await next.close()
  })

  test('counts a changed bar as revised when the collector sends the range again', async () => {
    const session = await openSession()
    const time = monday + 7 * daySeconds
    await session.bars('BACKFILL', [seriesAt('EURUSD', [time, time + 60])])
    await session.window('1', time, time + 120, 'EURUSD')
    const { out } = await fixture.fxd('backfill BROKERA:ZERO --from 2026-11-09 --to 2026-11-09')
    expect(out).toBe(
      'RESOLUTION  FROM              TO                SYMBOLS\n' +
        '1           2026-11-09 00:00  2026-11-10 00:00  1\n' +
        'Its collector sends again what its source has.\n',
    )
    await session.ended
    const next = await openSession()
    const [series] = [seriesAt('EURUSD', [time, time + 60])]
    const again = { ...series, revision: [Date.now(), 0], volume: [9, 0] }
    expect(await next.bars('BACKFILL', [again])).toMatchObject({ ack: { revised: 2, accepted: 0 } })
    await next.close()
  })

  test('without coverage in the range starts the session again, and says so', async () => {
    const session = await openSession()
    const { code, out } = await fixture.fxd('backfill BROKERA:ZERO --from 2025-01-01 --to 2025-01-02')
    expect([code, out]).toEqual([
      0,
      'BROKERA:ZERO has no coverage in this range. Its collector sends again what its source has.\n',
    ])
    expect(await session.ended).toMatchObject({ code: 'UNAVAILABLE' })
  })

  test.each([
    ['BROKERA:ZER0 --from 2026-11-02 --to 2026-11-02', 1, 'did you mean BROKERA:ZERO'],
    [
      'BROKERA:ZERO EURUSDD --from 2026-11-02 --to 2026-11-02',
      1,
      'no symbol "EURUSDD" (did you mean EURUSD?)',
    ],
    ['BROKERA:ZERO --from 2026-11-02', 64, "required option '--to <time>' not specified"],
    [
      'BROKERA:ZERO --from 2026-11-31 --to 2026-12-01',
      64,
      '--from is "2026-11-31"; it must be a date or minute',
    ],
    ['BROKERA:ZERO --from 2026-11-02T24:00 --to 2026-12-01', 64, '--from is "2026-11-02T24:00"'],
    ['BROKERA:ZERO --from 2026-11-02T10:00Z --to 2026-12-01', 64, "on the feed's clock"],
    ['BROKERA:ZERO --from 2026-11-03 --to 2026-11-02', 64, '--from is 2026-11-03; it must be before --to'],
    ['BROKERA:ZERO --from 1960-01-01 --to 2026-11-02', 64, 'wanted a range after 1970'],
    [
      'BROKERA:ZERO --from 2026-11-02 --to 2026-11-02 --resolution 5',
      64,
      'got "5", wanted one that BROKERA:ZERO stores: 1',
    ],
  ])('%s is refused by a sentence', async (line, exit, sentence) => {
    const { code, err } = await fixture.fxd(`backfill ${line}`)
    expect([code, err]).toEqual([exit, expect.stringContaining(sentence)])
  })
})
