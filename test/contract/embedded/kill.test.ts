import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { dateText } from '../../../services/core/clocks/calendar.ts'
import { toSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { openEmbeddedStores } from '../../../services/stores/embedded/open.ts'
import { minuteBars, readList, seriesOf } from '../suites/sample-bars.ts'

const untilAcknowledged = { timeout: 60_000, interval: 5 }

/** Maximum age of unwritten counters: they are written every second, and a busy machine may be late. */
const unwrittenMsMax = 5_000
/** The time of a request, and of the start of a write, is the last word of its line. */
const timeOfLine = (line: string): number => Number(line.split(' ').at(-1))

function startWriter(): { folder: string; child: ChildProcess; lines: () => string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-kill-'))
  const body = fileURLToPath(new URL('./endless-writer.ts', import.meta.url))
  const child = spawn(process.execPath, [body, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString()
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })
  // The text after the last line end may be half a line.
  return { folder, child, lines: () => text.split('\n').slice(0, -1) }
}

const ended = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve) => child.once('close', resolve))
const open = (folder: string) => openEmbeddedStores({ folder, clock: systemClock, log: silentLog })

/** Promise 1 with a real process: acknowledged bars are stored once after a kill. */
test('a killed process loses no acknowledged bar and at most a second of counters', async () => {
  const { folder, child, lines } = startWriter()
  const linesOf = (word: string) => lines().filter((line) => line.startsWith(`${word} `))
  await vi.waitFor(() => {
    const begunMs = timeOfLine(linesOf('requests')[0] ?? '')
    expect(timeOfLine(linesOf('LIVE').at(-1) ?? '') - begunMs).toBeGreaterThan(2 * unwrittenMsMax)
    expect(linesOf('BACKFILL').length).toBeGreaterThan(20)
    expect(linesOf('LIVE').length).toBeGreaterThan(20)
  }, untilAcknowledged)
  child.kill('SIGKILL')
  await ended(child)

  const stores = await open(folder)
  onTestFinished(() => stores.close())
  for (const name of ['BACKFILL', 'LIVE']) {
    const acknowledged = Number(linesOf(name).at(-1)?.split(' ')[1])
    const stored = await readList(stores.bars, seriesOf(name))
    expect(stored.length).toBeGreaterThanOrEqual(acknowledged)
    expect(stored).toEqual(minuteBars(0, stored.length))
  }
  const made = linesOf('requests')
  // Counters wait for the disk in the order of live writes.
  const writtenUntil = timeOfLine(linesOf('LIVE').at(-1) ?? '') - unwrittenMsMax
  const mustBeCounted = made.filter((line) => timeOfLine(line) < writtenUntil).length
  expect(mustBeCounted).toBeGreaterThan(0)
  const day = dateText(toSeconds(systemClock.utcMs()))
  const counted = [...(await stores.limits.usage('key', '1970-01-01', day)).values()]
  const requests = counted.reduce((sum, counters) => sum + counters.requests, 0)
  expect(requests).toBeGreaterThanOrEqual(mustBeCounted)
  expect(requests).toBeLessThanOrEqual(made.length + 1)
})

test('a second process on the same folder is refused with the path of the folder until the first has ended', async () => {
  const { folder, child, lines } = startWriter()
  await vi.waitFor(() => expect(lines()).toContain('open'), untilAcknowledged)
  const refused = open(folder)
  await expect(refused).rejects.toThrow(folder)
  await expect(refused).rejects.toThrow('FXD_DATA_DIR')
  child.kill('SIGKILL')
  await ended(child)
  const stores = await open(folder)
  await stores.bars.ping()
  await stores.close()
})
