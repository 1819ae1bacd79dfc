import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import { type CliFixture, openCliFixture } from '../../../test/support/fixtures/cli-fixture.ts'

let fixture: CliFixture
beforeAll(async () => {
  fixture = await openCliFixture()
})
afterAll(() => fixture.close())

describe('feeds', () => {
  test('list and show print the defined feeds', async () => {
    expect(await fixture.answer('feeds list')).toEqual([
      expect.objectContaining({ feed: 'BROKERA:VIP', hidden: false, symbol_count: 1, status: 'offline' }),
      expect.objectContaining({ feed: 'BROKERA:ZERO', source: 'Push', last_candle_time: null }),
    ])
    expect(await fixture.answer('feeds show BROKERA:ZERO')).toMatchObject({
      feed: 'BROKERA:ZERO',
      symbols: ['BROKERA:ZERO:EURUSD'],
      manifest: { kind: 'Feed', spec: { broker: 'BROKERA', account: 'ZERO' } },
    })
    expect((await fixture.fxd('feeds list')).out).toMatch(/^FEED\s+STATUS/)
    expect((await fixture.fxd('feeds show BROKERA:ZERO')).out).toContain('kind: Feed')
  })

  test('show names the symbols without bars, and those whose history is being read for the first time', async () => {
    const shown = async (): Promise<string> => (await fixture.fxd('feeds show BROKERA:ZERO')).out
    expect(await shown()).toMatch(/^BROKERA:ZERO:EURUSD {2}\(no bars yet\)$/m)
    const session = new RawSession(
      fixture.environment.FXD_GRPC_ADDR,
      readFileSync(join(fixture.home, 'data', 'token'), 'utf8').trim(),
    )
    await session.hello('BROKERA:ZERO')
    const time = Math.floor(Date.now() / 60_000) * 60 - 600
    await session.bars('BACKFILL', [seriesAt('EURUSD', [time])])
    expect(await shown()).toMatch(
      /^BROKERA:ZERO:EURUSD {2}\(its history is being read for the first time\)$/m,
    )
    await session.window('1', time, time + 60, 'EURUSD')
    expect(await shown()).toMatch(/^BROKERA:ZERO:EURUSD$/m)
    await session.close()
  })

  test('show names a series with more than 100 separate windows, and no series with 100', async () => {
    const session = new RawSession(
      fixture.environment.FXD_GRPC_ADDR,
      readFileSync(join(fixture.home, 'data', 'token'), 'utf8').trim(),
    )
    await session.hello('BROKERA:ZERO')
    const start = Math.floor(Date.now() / 60_000) * 60 - 30_000
    const send = (symbol: string, i: number) =>
      session.window('1', start + i * 240, start + i * 240 + 60, symbol)
    const shown = async () =>
      (await fixture.fxd('feeds show BROKERA:ZERO')).out.match(/^.* separate windows/gm) ?? []
    const hundred = Array.from({ length: 100 }, (_, i) => i)
    await Promise.all(hundred.flatMap((i) => [send('EURUSD', i), send('', i)]))
    expect(await shown()).not.toContainEqual(expect.stringMatching('^all symbols'))
    await Promise.all([send('EURUSD', 101), send('', 101)])
    await session.close()
    expect(await shown()).toEqual([
      'all symbols at 1: 101 separate windows',
      expect.stringMatching(/^BROKERA:ZERO:EURUSD at 1: 10\d separate windows/),
    ])
    expect(await fixture.answer('feeds show BROKERA:ZERO')).toMatchObject({
      many_windows: [
        { symbol: '', count: 101 },
        { symbol: 'BROKERA:ZERO:EURUSD', resolution: '1' },
      ],
    })
  })

  test('show has the number of lines that the collector rejects, while its session is open', async () => {
    const token = readFileSync(join(fixture.home, 'data', 'token'), 'utf8').trim()
    const session = new RawSession(fixture.environment.FXD_GRPC_ADDR, token)
    const shown = () => fixture.answer('feeds show BROKERA:ZERO')
    await session.hello('BROKERA:ZERO')
    expect(await shown()).toMatchObject({ rejected_lines: null })
    session.send({ heartbeat: { terminalConnected: true, rejectedLines: 7 } })
    await expect.poll(shown).toMatchObject({ rejected_lines: 7 })
    expect((await fixture.fxd('feeds show BROKERA:ZERO')).out).toMatch(/^rejected lines +7 \(the log/m)
    await session.close()
    await expect.poll(shown).toMatchObject({ rejected_lines: null })
  })

  test('show has the number of symbols that the terminal re-adjusted, and says when none is read again', async () => {
    const token = readFileSync(join(fixture.home, 'data', 'token'), 'utf8').trim()
    const session = new RawSession(fixture.environment.FXD_GRPC_ADDR, token)
    const shown = () => fixture.answer('feeds show BROKERA:ZERO')
    await session.hello('BROKERA:ZERO')
    expect(await shown()).toMatchObject({ readjusted_symbols: null, readjustments_held: false })
    session.send({ heartbeat: { terminalConnected: true, readjustedSymbols: 3, readjustmentsHeld: true } })
    await expect.poll(shown).toMatchObject({ readjusted_symbols: 3, readjustments_held: true })
    expect((await fixture.fxd('feeds show BROKERA:ZERO')).out).toMatch(
      /^readjusted symbols +3 \(too many in one day: none is read again until `fxd backfill BROKERA:ZERO`\)$/m,
    )
    await session.close()
    await expect.poll(shown).toMatchObject({ readjusted_symbols: null, readjustments_held: false })
  })

  test('token issues a token that allows pushing one feed only', async () => {
    const { code, out, err } = await fixture.fxd('feeds token BROKERA:ZERO --expires 30d')
    expect([code, err]).toEqual([0, expect.stringMatching(/BROKERA:ZERO: this token may push until \d{4}-/)])
    writeFileSync(join(fixture.home, 'of-the-feed'), out)
    const asCollector = { FXD_TOKEN_FILE: join(fixture.home, 'of-the-feed') }
    expect(await fixture.fxd('keys list', asCollector)).toMatchObject({
      code: 77,
      err: 'fxd: this credential may push bars only; the call needs an administration credential\n',
    })
    const mistyped = await fixture.fxd('feeds token BROKERA:ZER0')
    expect(mistyped.code).toBe(1)
    expect(mistyped.err).toMatch(/did you mean BROKERA:ZERO/)
    const answer = await fixture.answer('feeds token BROKERA:ZERO BROKERA:VIP')
    expect(answer).toMatchObject({ feeds: ['BROKERA:ZERO', 'BROKERA:VIP'] })
  })

  test('purge removes the bars of a feed that no manifest names any more', async () => {
    await fixture.redefine('ZERO')
    expect(await fixture.answer('feeds purge BROKERA:VIP')).toEqual({ feed: 'BROKERA:VIP', series: 0 })
    expect((await fixture.fxd('feeds list')).out).toMatch(/BROKERA:VIP\s+hidden/)
  })
})

describe('a service that is unavailable', () => {
  test('because it is not running is reported in a sentence with the variable', async () => {
    const outcome = await fixture.fxd('keys list', { FXD_GRPC_ADDR: '127.0.0.1:1' })
    expect(outcome.code).toBe(69)
    expect(outcome.err).toMatch(/127\.0\.0\.1:1 \(FXD_GRPC_ADDR\) does not answer.*FXD_GRPC_ADDR is correct/)
  })

  test('because it never ran on this folder is reported in a sentence', async () => {
    const outcome = await fixture.fxd('keys list', { FXD_DATA_DIR: join(fixture.home, 'elsewhere') })
    expect(outcome.code).toBe(69)
    expect(outcome.err).toMatch(/There is no token at/)
  })

  test('because it has another token is reported in a sentence without the token', async () => {
    writeFileSync(join(fixture.home, 'token'), 'another-token\n')
    const outcome = await fixture.fxd('keys list', { FXD_DATA_DIR: fixture.home })
    expect(outcome.code).toBe(77)
    expect(outcome.err).toMatch(/refused the token of .*FXD_DATA_DIR/)
    expect(outcome.err).not.toContain('another-token')
  })
})
