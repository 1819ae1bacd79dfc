import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exportText, minutes } from '../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../test/support/fixtures/import-fixture.ts'

useImportFixture({
  ZERO: {},
  HOURS: { resolutions: ['60', '240', '1D'] },
})

const good = exportText(minutes(Date.UTC(2024, 0, 8) / 1000, 30, 1.1, 5))

describe('a wrong command line exits with 64 and names the option', () => {
  const file = 'never-read.csv'
  const all = { '--feed': 'BROKERA:ZERO', '--symbol': 'EURUSD', '--resolution': '1' }
  const commandLine = (more: Record<string, string>): string[] => [
    file,
    ...Object.entries({ ...all, ...more }).flat(),
  ]

  test.for([
    ['--resolution', '30', /30, which is never stored: it is derived from 1 when it is read/],
    ['--resolution', 'H1', /must be one of 1, 5, 10,.* \(did you mean 60\?\)/],
    ['--derive', '5,30', /30, which is never stored/],
    ['--derive', '5,1', /longer than 1/],
    ['--derive', '7', /one of 5, 10, 15, 60, 120, 240, 1D, 1W, 1M\.$/m],
    ['--derive', '', /one of 5, 10, 15, 60, 120, 240, 1D, 1W, 1M\.$/m],
    ['--symbol', 'BROKERA:ZERO:EURUSD', /clean name alone/],
    ['--symbol', 'EUR  USD', /spaces only singly between others/],
    ['--symbol', ' EURUSD', /spaces only singly between others/],
    ['--digits', '11', /0 to 10/],
    ['--digits', 'five', /0 to 10/],
    ['--type', 'FX', /forex, crypto, index, cfd \(did you mean forex\?\)/],
    ['--description', 'x'.repeat(300), /at most 200 characters/],
    ['--max-gap', '4', /30s, 15m, 1h, 90d/],
  ] as const)('%s %s', async ([option, value, sentence]) => {
    const { code, stdout, stderr } = await fixture.importing(...commandLine({ [option]: value }))
    expect([code, stdout]).toEqual([64, ''])
    expect(stderr).toContain(option)
    expect(stderr).toMatch(sentence)
  })

  test('--derive of a file without minutes', async () => {
    const { code, stderr } = await fixture.importing(
      ...commandLine({ '--resolution': '60', '--derive': '1D' }),
    )
    expect([code, stderr]).toEqual([64, expect.stringMatching(/--derive needs a file of resolution 1/)])
  })

  test('--resolution that the name of the file contradicts', async () => {
    const { code, stdout, stderr } = await fixture.importing(
      'EURUSD_H1_2017.csv',
      ...seriesOptions('MINUTES'),
    )
    expect([code, stdout]).toEqual([64, ''])
    expect(stderr).toContain('--resolution is 1, but EURUSD_H1_2017.csv has the name of an export of 60;')
  })

  test('missing and unknown options', async () => {
    for (const given of [
      [],
      [file],
      [file, '--feed', 'BROKERA:ZERO', '--symbol', 'X'],
      [...commandLine({}), '--nope'],
    ]) {
      expect((await fixture.importing(...given)).code).toBe(64)
    }
  })
})

describe('a refusal by the service exits with 1', () => {
  test('a feed that does not exist, with a similar name', async () => {
    const path = fixture.write(good)
    const { code, stderr } = await fixture.importing(
      path,
      '--feed',
      'BROKERA:ZERRO',
      ...seriesOptions('X').slice(2),
    )
    expect([code, stderr]).toEqual([1, expect.stringMatching(/did you mean BROKERA:ZERO/)])
  })

  test('a resolution that the feed does not store, of the file or derived from it', async () => {
    const path = fixture.write(good)
    const one = await fixture.importing(path, ...seriesOptions('X', '1', 'HOURS'))
    expect([one.code, one.stderr]).toEqual([
      1,
      'fxd: BROKERA:HOURS stores 60, 240, 1D; it does not store 1. To change that, edit spec.resolutions of its Feed manifest.\n',
    ])
  })
})

describe('without a service it exits with 69', () => {
  test('when no service listens, or none ever ran on the folder', async () => {
    const path = fixture.write(good)
    const nobody = { ...fixture.environment(), FXD_GRPC_ADDR: '127.0.0.1:1' }
    const off = await fixture.importingIn(nobody, path, ...seriesOptions('X'))
    expect([off.code, off.stderr]).toEqual([
      69,
      expect.stringMatching(/127\.0\.0\.1:1 .*does not answer.*FXD_GRPC_ADDR/),
    ])
    const ingest = { ...fixture.environment(), FXD_INGEST: '127.0.0.1:1' }
    const { stderr } = await fixture.importingIn(ingest, path, ...seriesOptions('X'))
    expect(stderr).toMatch(/127\.0\.0\.1:1 \(FXD_INGEST\) does not answer/)
    const elsewhere = { ...fixture.environment(), FXD_DATA_DIR: join(fixture.folder, 'nowhere') }
    const never = await fixture.importingIn(elsewhere, path, ...seriesOptions('X'))
    expect([never.code, never.stderr]).toEqual([69, expect.stringMatching(/There is no token at/)])
  })

  test('with the token of another service it exits with 77', async () => {
    const other = join(fixture.folder, 'other-data')
    mkdirSync(other)
    writeFileSync(join(other, 'token'), 'of-another-service\n')
    const { code, stderr } = await fixture.importingIn(
      { ...fixture.environment(), FXD_DATA_DIR: other },
      fixture.write(good),
      ...seriesOptions('X'),
    )
    expect([code, stderr]).toEqual([77, expect.stringMatching(/refused the token/)])
  })
})

test('as a process, each result has its own exit code', async () => {
  const runs = await Promise.all([
    fixture.importingApart(fixture.write(good), ...seriesOptions('PROCESS'), '--json'),
    fixture.importingApart(fixture.write(good), ...seriesOptions('PROCESS', '1', 'HOURS')),
    fixture.importingApart(fixture.write(good), ...seriesOptions('PROCESS', '30')),
    fixture.importingApart(fixture.write(`${good}x\r\n`), ...seriesOptions('PROCESS')),
    fixture.importingApart(fixture.write(''), ...seriesOptions('PROCESS')),
  ])
  expect(runs.map(({ code }) => code)).toEqual([0, 1, 64, 65, 66])
  for (const { stderr } of runs.slice(1)) expect(stderr).toMatch(/^fxd: .*\n/)
})
