import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { exportText, minutes } from '../../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../../test/support/fixtures/import-fixture.ts'

useImportFixture({ ZERO: {} })

const monday = Date.UTC(2024, 0, 8) / 1000
const bars = minutes(monday, 50, 1.1, 5)

describe('standard input, named -', () => {
  test('is stored like a file, also where its lines do not ascend', async () => {
    const input = Buffer.from(exportText(bars.toReversed()))
    const { code, stderr, json } = await fixture.importingPiped(input, ...seriesOptions('PIPED'), '--json')
    expect([code, stderr]).toEqual([0, ''])
    expect(json).toMatchObject({ file: 'standard input', accepted: 50, refused: 0 })
    expect(await fixture.history('BROKERA:ZERO:PIPED', '1')).toEqual(bars)
  })

  test('is named in an error', async () => {
    const input = Buffer.from('<DATE>;<OPEN>\n')
    expect(await fixture.importingPiped(input, ...seriesOptions('PIPED'))).toMatchObject({
      code: 66,
      stderr: expect.stringMatching(/^fxd: standard input cannot be read as an export: /) as string,
    })
    expect(await fixture.importingPiped(Buffer.alloc(0), ...seriesOptions('PIPED'))).toMatchObject({
      code: 66,
      stderr: 'fxd: standard input is empty; there is nothing to import.\n',
    })
  })

  test('is not read when there is no such feed', async () => {
    const input: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => expect.unreachable('standard input was read'),
    }
    const ran = await fixture.importingPiped(input, ...seriesOptions('PIPED', '1', 'ZERRO'))
    expect(ran).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('did you mean BROKERA:ZERO') as string,
    })
  })

  test('needs a temporary folder, which is named when it cannot be used', async () => {
    const nowhere = join(fixture.folder, 'nowhere')
    vi.stubEnv('TMPDIR', nowhere)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { code, stderr } = await fixture.importingPiped(Buffer.alloc(0), ...seriesOptions('PIPED'))
    expect([code, stderr]).toEqual([
      71,
      expect.stringContaining(`${nowhere}, which cannot be used (ENOENT); set TMPDIR`),
    ])
  })

  test('leaves no temporary file', async () => {
    // A separate folder, because other tests create temporary files at the same time.
    const folder = mkdtempSync(join(fixture.folder, 'temporary-'))
    vi.stubEnv('TMPDIR', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(tmpdir()).toBe(folder)
    expect(
      await fixture.importingPiped(Buffer.from(exportText(bars)), ...seriesOptions('PIPED')),
    ).toMatchObject({
      code: 0,
    })
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a relative path', () => {
  test('begins in the current folder of the person', async () => {
    const path = fixture.write(exportText(bars))
    const { code, json } = await fixture.importingAt(
      fixture.folder,
      basename(path),
      ...seriesOptions('STANDS'),
      '--json',
    )
    expect([code, json['file'], json['accepted']]).toEqual([0, basename(path), 50])
  })

  test('begins there under npm run too, although npm changes the folder', async () => {
    const root = fileURLToPath(new URL('../../../..', import.meta.url))
    const folder = mkdtempSync(join(fixture.folder, 'person-'))
    writeFileSync(join(folder, 'mine.csv'), exportText(bars))
    const args = ['import', 'mine.csv', ...seriesOptions('NPM'), '--json']
    // npm starts a script in the folder of the package, with the person's folder in INIT_CWD.
    const { stdout } = await promisify(execFile)(
      join(root, 'bin/node'),
      [join(root, 'services/main.ts'), ...args],
      {
        cwd: root,
        env: { PATH: process.env['PATH'], INIT_CWD: folder, ...fixture.environment() },
      },
    )
    expect(JSON.parse(stdout)).toMatchObject({ file: 'mine.csv', accepted: 50 })
  })
})
