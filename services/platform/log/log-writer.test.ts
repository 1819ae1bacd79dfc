import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/fixtures/temporary-folder.ts'
import { systemClock } from '../system-clock.ts'
import { LogWriter } from './log-writer.ts'

/** A real pipe in non-blocking mode at both ends, with a writer for it. */
function openPipe() {
  const path = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  const openReader = (): number => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  let reader: number | undefined = openReader()
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  const writer = openWriter(fd)
  const chunk = Buffer.alloc(1_048_576)
  let text = ''
  /** Everything received so far. */
  const read = (): string => {
    reader ??= openReader()
    try {
      for (;;) {
        const bytes = readSync(reader, chunk)
        if (bytes === 0) return text
        text += chunk.toString('utf8', 0, bytes)
      }
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('EAGAIN')
      return text
    }
  }
  const closeReader = (): void => {
    if (reader !== undefined) closeSync(reader)
    reader = undefined
  }
  onTestFinished(async () => {
    // A writer with waiting lines would write them to the next file that gets this descriptor.
    let isFlushed = false
    void writer.flush().then(() => (isFlushed = true))
    for (; !isFlushed; await systemClock.sleep(10)) read()
    closeReader()
    closeSync(fd)
  })
  return { writer, read, closeReader }
}

const bytesMax = 100_000
function openWriter(fd: number): LogWriter {
  const writer: LogWriter = new LogWriter({
    fd,
    clock: systemClock,
    bytesMax,
    resumed: (lines) => writer.write(`dropped ${lines}\n`),
  })
  return writer
}
const lineOf = (n: number): string => `${String(n).padStart(99, '0')}\n`

test('a reader gets all lines whole and in order, whatever their number and length', async () => {
  const { writer, read } = openPipe()
  const lines = Array.from({ length: 300 }, (_, n) => `${'ä'.repeat(n % 200)} ${n}\n`)
  for (const line of lines) writer.write(line)
  await expect.poll(() => read(), { timeout: 5_000 }).toBe(lines.join(''))
  await writer.flush()
  expect(writer.dropped).toBe(0)
})

test('while there is no reader the queue is bounded, and later lines are dropped and counted', async () => {
  const { writer } = openPipe()
  for (let n = 0; n < 5_000; n += 1) writer.write(lineOf(n))
  expect(writer.dropped).toBe(5_000 - bytesMax / 100)
})

test('once the reader reads again, one line reports how many were dropped, then logging continues', async () => {
  const { writer, read } = openPipe()
  for (let n = 0; n < 5_000; n += 1) writer.write(lineOf(n))
  const { dropped } = writer
  await expect.poll(() => read(), { timeout: 5_000 }).toContain(`dropped ${dropped}\n`)
  writer.write('after\n')
  await writer.flush()
  const lines = read().split('\n')
  expect(lines.slice(-3)).toEqual([`dropped ${dropped}`, 'after', ''])
  expect(lines.filter((line) => line.startsWith('dropped'))).toHaveLength(1)
  expect(lines.slice(0, -3).map(Number)).toEqual([...lines.slice(0, -3).keys()])
  expect(writer.dropped).toBe(dropped)
})

test('a closed reader causes no failure, and dropped lines are counted', async () => {
  const { writer, closeReader } = openPipe()
  closeReader()
  for (let n = 0; n < 2_000; n += 1) writer.write(lineOf(n))
  await systemClock.sleep(50)
  for (let n = 0; n < 2_000; n += 1) writer.write(lineOf(n))
  expect(writer.dropped).toBe(4_000 - bytesMax / 100)
})

test('a file gets every line', async () => {
  const path = join(temporaryFolder(), 'log')
  const fd = openSync(path, 'w')
  const writer = openWriter(fd)
  for (let n = 0; n < 900; n += 1) writer.write(lineOf(n))
  await writer.flush()
  closeSync(fd)
  expect(readFileSync(path, 'utf8')).toBe(Array.from({ length: 900 }, (_, n) => lineOf(n)).join(''))
})

test('a line longer than the queue is written when nothing waits, and logging continues', async () => {
  const path = join(temporaryFolder(), 'log')
  const fd = openSync(path, 'w')
  const writer = openWriter(fd)
  const long = `${'x'.repeat(2 * bytesMax)}\n`
  writer.write(long)
  await writer.flush()
  writer.write('after\n')
  await writer.flush()
  closeSync(fd)
  expect(readFileSync(path, 'utf8')).toBe(`${long}after\n`)
  expect(writer.dropped).toBe(0)
})
