import { appendFileSync, closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Bar, exportText, line, minutes } from '../../../test/acceptance/client/bars.ts'
import { effort } from '../../../test/support/effort.ts'
import {
  fixture,
  runFxd,
  seriesOptions,
  useImportFixture,
} from '../../../test/support/fixtures/import-fixture.ts'
import { printingUsage, usageIn } from '../../../test/support/processes/process-usage.ts'
import { writeRepeated } from '../../../test/support/samples/repeated-export.ts'

useImportFixture({ ZERO: {} })

const mebibyte = 2 ** 20
const monday = Date.UTC(2024, 0, 8) / 1000
/** Timeout for a machine that is busy with other tests. */
const patienceMs = 60_000 * Math.max(1, effort)
/** Each line is almost of maximum length; most of it is a hole of the file that uses no disk space. */
function writeSparse(path: string, bytes: number): Bar[] {
  const lineBytes = 120_000
  const bars = minutes(monday, Math.floor(bytes / lineBytes), 1.1, 5)
  const file = openSync(path, 'w')
  let at = writeSync(file, exportText([]))
  for (const bar of bars) {
    writeSync(file, line(bar).trimEnd(), at)
    at += lineBytes
    writeSync(file, '\r\n', at - 2)
  }
  ftruncateSync(file, at)
  closeSync(file)
  return bars
}

describe('a large file', () => {
  // 2 GB with an effort of 4.
  const bytes = 512 * mebibyte * Math.min(4, Math.max(1, effort))

  test('is streamed: the command needs the same memory for any size', {
    timeout: patienceMs,
  }, async () => {
    const path = join(fixture.folder, 'sparse.csv')
    const bars = writeSparse(path, bytes)
    const args = ['import', path, ...seriesOptions('SPARSE'), '--json']
    const { code, stdout, stderr } = await runFxd(args, { ...fixture.environment(), ...printingUsage })
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ accepted: bars.length, refused: 0 })
    expect(await fixture.history('BROKERA:ZERO:SPARSE', '1')).toEqual(bars)
    const { peakMib } = usageIn(stderr)
    expect(peakMib).toBeGreaterThan(20)
    // Measured: 136 to 141 MiB for 512 MB and for 2 GB, also beside busy processes.
    expect(peakMib).toBeLessThan(200)
  })
})

test('more than 5,000,000 lines that do not ascend are refused with 66 before a symbol is added', async () => {
  const path = fixture.write(exportText(minutes(monday, 30, 1.1, 5).toReversed()) + '\n'.repeat(5_000_000))
  const { code, stdout, stderr } = await fixture.importing(path, ...seriesOptions('UNSORTED'))
  expect([code, stdout]).toEqual([66, ''])
  expect(stderr).toContain(`${path} has 5,000,031 lines, and line 3 is not later than the one before it.`)
  expect(await fixture.symbol('BROKERA:ZERO:UNSORTED')).toHaveProperty('error')
})

describe('while a file is imported', () => {
  test('progress is logged at intervals, and drawn for a person', {
    timeout: patienceMs,
  }, async () => {
    const path = join(fixture.folder, 'progress.csv')
    const { bars } = writeRepeated(path, 40_000)
    const shown = await fixture.importingWatched(path, ...seriesOptions('WATCHED'))
    expect(shown.code).toBe(0)
    const [nothing, ...drawn] = shown.stderr.split('\r\u001B[K')
    expect([nothing, drawn.pop()]).toEqual(['', ''])
    expect(drawn).not.toEqual([])
    for (const each of drawn)
      expect(each).toMatch(/^\[=* *\] (read [\d,]+ of [\d,]+ bytes|stored [\d,]+ of [\d,]+ lines) \(\d+ %\)$/)
    expect(shown.stdout).toMatch(new RegExp(`^ {2}accepted +${bars.toLocaleString('en')}$`, 'm'))
  })

  test('a file that breaks in its middle ends it with 66, and what was stored is reported', {
    timeout: patienceMs,
  }, async () => {
    const path = join(fixture.folder, 'breaks.csv')
    writeRepeated(path, 120_000)
    appendFileSync(path, 'x'.repeat(3 * mebibyte))
    const args = [path, ...seriesOptions('BREAKS'), '--derive', '60']
    const { code, stderr, json } = await fixture.importing(...args, '--json')
    expect([code, stderr]).toEqual([66, expect.stringContaining('is longer than')])
    const stored = await fixture.history('BROKERA:ZERO:BREAKS', '1')
    expect(stored.length).toBeGreaterThan(0)
    expect(json).toMatchObject({ accepted: stored.length, refused: 0, windows: [], ended_early: true })
    const { stdout } = await fixture.importing(...args)
    expect(stdout).toContain('ended early after')
    expect(stdout).toMatch(new RegExp(`^ {2}unchanged +${stored.length.toLocaleString('en')}$`, 'm'))
  })

  test('a service that stops ends it with 69: acknowledged lines are stored, and a second import stores the rest', {
    timeout: patienceMs,
  }, async () => {
    const path = join(fixture.folder, 'long.csv')
    const { bars } = writeRepeated(path, 120_000)
    const importing = fixture.importing(path, ...seriesOptions('LONG'))
    await expect
      .poll(() => fixture.newest('BROKERA:ZERO:LONG', '1'), { interval: 5, timeout: patienceMs })
      .toBeGreaterThan(0)
    await fixture.restart()
    const { code, stderr } = await importing
    expect([code, stderr]).toEqual([
      69,
      expect.stringMatching(/What it acknowledged is stored; import the file again/),
    ])
    const again = await fixture.importing(path, ...seriesOptions('LONG'), '--json')
    expect(again.code, again.stderr).toBe(0)
    const { accepted, unchanged } = again.json as { accepted: number; unchanged: number }
    expect(unchanged).toBeGreaterThan(0)
    expect(accepted).toBeGreaterThan(0)
    expect(accepted + unchanged).toBe(bars)
  })
})
