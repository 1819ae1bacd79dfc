import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defineFeed } from '../../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { quietListener } from '../../../../test/support/samples/quiet-listener.ts'
import { allTimes, type Span } from '../../../core/bars/window.ts'
import { silentLog } from '../../../platform/log/log.ts'
import type { SourceListener, SourceSeries } from '../../source.ts'
import { settleMs } from './complete-minutes.ts'
import { createMt5Csv } from './mt5-csv.ts'

const noon = Date.UTC(2026, 0, 7, 12)
const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\r\n'
const line = (minute: number, price = '1.1'): string => {
  const at = new Date(noon + minute * 60_000).toISOString()
  return `${at.slice(0, 10).replaceAll('-', '.')}\t${at.slice(11, 19)}\t${price}\t${price}\t${price}\t${price}\t1\t0\t3\r\n`
}
const symbols = ['EURUSD', 'GBPUSD'] as const

/** A followed folder with a file of each symbol, read to the minute before noon; the clock is at noon. */
async function follow(mode: 'UTC' | 'Measured' = 'UTC') {
  const folder = await mkdtemp(join(tmpdir(), 'fxd-minutes-'))
  const stop = new AbortController()
  onTestFinished(async () => {
    stop.abort()
    await rm(folder, { recursive: true })
  })
  const path = (raw: string): string => join(folder, `${raw}_M1.csv`)
  for (const raw of symbols) await writeFile(path(raw), header + line(-1))
  const clock = createVirtualClock({ start: noon })
  const reported = { watched: [] as number[], rejected: [] as Span[], readAgain: [] as SourceSeries[] }
  const listener: SourceListener = {
    ...quietListener(clock),
    watched: (resolution, { to }) =>
      void (resolution === '1' && reported.watched.push((to - noon / 1000) / 60)),
    rejected: (_, spans) => void reported.rejected.push(...spans),
    readAgain: (series) => void reported.readAgain.push(series),
  }
  const list = symbols.map((raw) => ({ raw, type: 'forex', digits: 5 }))
  const definition = defineFeed({ clock: { mode }, symbols: { list } })
  const source = createMt5Csv({ definition, path: folder, follow: true, clock, log: silentLog })
  await source.open(listener, stop.signal)
  const read = async (raw: string): Promise<void> => {
    for await (const _ of source.read({ raw, resolution: '1' }, allTimes, stop.signal)) continue
  }
  for (const raw of symbols) await read(raw)
  /** Advances the clock, with time for the scans of each second. */
  const pass = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds; i++) {
      await clock.advance(1_000)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const until = async (condition: () => boolean): Promise<void> => {
    await expect.poll(() => clock.advance(200).then(condition), { interval: 5, timeout: 8_000 }).toBe(true)
  }
  if (mode === 'UTC') await until(() => reported.watched.includes(0))
  return { path, clock, reported, read, pass, until }
}

test('a minute is complete once all files were read after the settling time of its first line', async () => {
  const { path, clock, reported, pass, until } = await follow()
  await clock.advance(60_000 - (clock.utcMs() % 60_000))
  const minute = Math.floor((clock.utcMs() - noon) / 60_000) - 1
  await appendFile(path('EURUSD'), line(minute))
  await pass(settleMs / 1_000 - 2)
  await appendFile(path('GBPUSD'), line(minute))
  expect(reported.watched).toEqual([0])
  await until(() => reported.watched.length === 2)
  expect(reported.watched).toEqual([0, minute + 1])
})

test('a minute is complete although a file of a rejected symbol is never read', async () => {
  const { path, clock, reported, pass, until } = await follow()
  await writeFile(path('Volatility 75'), header + line(-1))
  await pass(3)
  await clock.advance(60_000 - (clock.utcMs() % 60_000))
  const minute = Math.floor((clock.utcMs() - noon) / 60_000) - 1
  await appendFile(path('EURUSD'), line(minute))
  await until(() => reported.watched.length > 1)
  expect(reported.watched).toEqual([0, minute + 1])
})

test('a terminal that writes no line completes no minute, however much time passes', async () => {
  const { reported, pass } = await follow()
  await pass(180)
  expect(reported.watched).toEqual([0])
})

test('a line with a future time completes no minute', async () => {
  const { path, reported, pass } = await follow()
  await appendFile(path('EURUSD'), line(600) + line(601))
  await pass(30)
  expect(reported.watched).toEqual([0])
})

test('no minute is complete until a replaced file was read again', async () => {
  const { path, clock, reported, read, pass, until } = await follow()
  await clock.advance(60_000 - (clock.utcMs() % 60_000))
  const minute = Math.floor((clock.utcMs() - noon) / 60_000) - 1
  await writeFile(`${path('GBPUSD')}.new`, header + line(-1) + line(minute))
  await rename(`${path('GBPUSD')}.new`, path('GBPUSD'))
  await appendFile(path('EURUSD'), line(minute))
  await until(() => reported.readAgain.length > 0)
  await pass(30)
  expect(reported.watched).toEqual([0])
  await read('GBPUSD')
  await until(() => reported.watched.at(-1) === minute + 1)
})

test.each([
  ['a price with too many decimals', (minute: number) => line(minute, '1.1234567')],
  ['a price that cannot be read', (minute: number) => line(minute, 'n/a')],
  ['a date that cannot be read', () => 'x\r\n'],
])('a line that was rejected for %s is reported before its minute is claimed', async (_, rejected) => {
  const { path, clock, reported, until } = await follow()
  await clock.advance(60_000 - (clock.utcMs() % 60_000))
  const minute = Math.floor((clock.utcMs() - noon) / 60_000) - 1
  await appendFile(path('EURUSD'), line(minute))
  await appendFile(path('GBPUSD'), rejected(minute))
  await until(() => reported.watched.length === 2)
  const from = noon / 1000 + minute * 60
  expect(reported.rejected.some((span) => span.from <= from && span.to >= from + 60)).toBe(true)
})

test('with a measured clock a line alone shows the minute', async () => {
  const { path, reported, until } = await follow('Measured')
  await appendFile(path('EURUSD'), line(3) + line(4))
  await until(() => reported.watched.length > 0)
  expect(reported.watched).toEqual([4])
})
