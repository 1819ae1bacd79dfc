import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  open as openFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { type RevisedBar, toList } from '../../../core/bars/bar.ts'
import type { Span } from '../../../core/bars/window.ts'
import { feedSeconds, utcMs } from '../../../core/clocks/feed-clock.ts'
import { feedKey } from '../../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { createLog } from '../../../platform/log/log.ts'
import type { SourceListener, SourceSeries, SourceSymbol } from '../source.ts'
import { createMt5Csv } from './mt5-csv.ts'

const definition: FeedDefinition = {
  key: feedKey('BROKERA', 'ZERO'),
  name: 'brokera-zero',
  broker: 'BROKERA',
  account: 'ZERO',
  brokerName: 'BrokerA',
  description: 'BrokerA Zero',
  clock: { mode: 'Fixed', offsetSeconds: -10_800 },
  quoteBasis: 'Bid',
  resolutions: ['1', '5', '60'],
  delaySeconds: 0,
  liveness: 'heartbeat',
  depth: {},
  retention: {},
  storageBuckets: 4,
  suffixes: ['.z'],
  symbols: [{ raw: 'EURUSD.z', type: 'forex', digits: 5 }],
  source: { type: 'Mt5Csv', path: '.', follow: true },
}
const utcNow = Date.UTC(2026, 0, 7, 12, 0, 30)
const feedMinute = Date.UTC(2026, 0, 7, 15, 0) / 1000
const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\r\n'
const everything: Span = { from: feedSeconds(0), to: feedSeconds(1e11) }

/** A line of the minute that opens this number of minutes after 15:00 on the feed's clock. */
const line = (minute: number, close = '1.09327') => {
  const at = new Date((feedMinute + minute * 60) * 1000).toISOString()
  return `${at.slice(0, 10).replaceAll('-', '.')}\t${at.slice(11, 19)}\t1.09321\t1.09330\t1.09318\t${close}\t42\t0\t3\r\n`
}

async function writeAt(path: string, offset: number, text: string): Promise<void> {
  const file = await openFile(path, 'r+')
  await file.write(text, offset)
  await file.close()
}

let folder: string
let stop: AbortController
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fxd-mt5-'))
  stop = new AbortController()
})
afterEach(async () => {
  stop.abort()
  await rm(folder, { recursive: true })
})

/** `aheadMs`: how far the clock of this machine is ahead of ingest's. */
async function open({ aheadMs = 0 } = {}) {
  const clock = createVirtualClock({ start: utcNow + aheadMs })
  const log: { msg: string; file?: string }[] = []
  const reported = {
    symbols: [] as SourceSymbol[],
    closed: [] as RevisedBar[],
    complete: [] as Span[],
    readAgain: [] as SourceSeries[],
  }
  const listener: SourceListener = {
    catalogue: (symbols) => void reported.symbols.push(...symbols),
    closed: (batch) => void reported.closed.push(...batch.flatMap(({ bars }) => toList(bars))),
    complete: (_, span) => void reported.complete.push(span),
    watched: () => undefined,
    rejected: () => undefined,
    readAgain: (series) => void reported.readAgain.push(series),
    tick: () => undefined,
    connected: () => undefined,
    time: { utcMs: () => utcMs(clock.utcMs() - aheadMs) },
  }
  const source = createMt5Csv({
    definition,
    path: folder,
    follow: true,
    clock,
    log: createLog('info', {
      write: (text: string) => void log.push(JSON.parse(text) as (typeof log)[number]),
    }),
  })
  await source.open(listener, stop.signal)
  const read = async (raw: string, resolution: Resolution) => {
    const bars: RevisedBar[] = []
    const complete: Span[] = []
    for await (const answer of source.read({ raw, resolution }, everything, stop.signal)) {
      bars.push(...toList(answer.bars))
      if (answer.complete) complete.push(answer.complete)
    }
    return { bars, complete }
  }
  const poll = (condition: () => boolean) => clock.advance(200).then(condition)
  const until = async (condition: () => boolean) => {
    await expect.poll(() => poll(condition), { interval: 2, timeout: 5_000 }).toBe(true)
  }
  return { clock, log, reported, source, read, until }
}
const times = (bars: readonly RevisedBar[]) => bars.map((bar) => (bar.time - feedMinute) / 60)

test('a real export is read completely, with one window from its first open to its last end', async () => {
  await copyFile(
    join(import.meta.dirname, '../../../../test/data/BTCUSD_M1_201311.csv'),
    join(folder, 'BTCUSD_M1_201311.csv'),
  )
  const { read, reported } = await open()
  expect(reported.symbols).toEqual([{ raw: 'BTCUSD', digits: 2, resolutions: ['1'] }])
  const { bars, complete } = await read('BTCUSD', '1')
  expect(bars).toHaveLength(9_399)
  const last = bars.at(-1) as RevisedBar
  expect(complete).toEqual([{ from: bars[0]?.time, to: last.time + 60 }])
})

test('a line appended after the first full read is reported at once, in a separate window', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-3))
  const { read, reported, until } = await open()
  expect(times((await read('EURUSD.z', '1')).bars)).toEqual([-3])
  await appendFile(path, line(-2) + line(-1).slice(0, 20))
  await until(() => reported.closed.length > 0)
  expect(times(reported.closed)).toEqual([-2])
  await appendFile(path, line(-1).slice(20))
  await until(() => reported.complete.at(-1)?.to === feedMinute)
  expect(times(reported.closed)).toEqual([-2, -1])
  expect(reported.complete.at(-1)?.from).toBe(feedMinute - 180)
})

test('a forming bar is reported once it has closed, with the values that its line then has', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-1) + line(0, '1.09300'))
  const { read, reported, until } = await open()
  const { bars, complete } = await read('EURUSD.z', '1')
  expect([times(bars), complete]).toEqual([[-1], [{ from: feedMinute - 60, to: feedMinute }]])
  await writeAt(path, (header + line(-1)).length, line(0, '1.09322'))
  await until(() => reported.closed.length > 0)
  expect(reported.closed.map((bar) => [bar.time, bar.close])).toEqual([[feedMinute, 1.09322]])
})

test('while the clock of this machine is ahead, a forming bar is held back until it has closed for ingest', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-1) + line(0))
  const { reported, read, until } = await open({ aheadMs: 90_000 })
  expect(times((await read('EURUSD.z', '1')).bars)).toEqual([-1])
  await writeAt(path, (header + line(-1)).length, line(0, '1.09322'))
  await until(() => reported.closed.length > 0)
  expect(reported.closed.map((bar) => [bar.time, bar.close])).toEqual([[feedMinute, 1.09322]])
})

test('a closed bar is reported again when the last line is rewritten, and only then', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-2))
  const { reported, read, until } = await open()
  await read('EURUSD.z', '1')
  await appendFile(path, line(-1, '1.09321'))
  await until(() => reported.closed.length === 1)
  await writeAt(path, (header + line(-2)).length, line(-1, '1.09325'))
  await until(() => reported.closed.length === 2)
  await appendFile(path, line(0))
  await until(() => reported.closed.length === 3)
  expect(reported.closed.map((bar) => [(bar.time - feedMinute) / 60, bar.close])).toEqual([
    [-1, 1.09321],
    [-1, 1.09325],
    [0, 1.09327],
  ])
  expect(reported.readAgain).toEqual([])
})

test('a file that shrank, was replaced or starts differently is read again', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  const changes = [
    () => writeFile(path, header + line(-3)),
    () => writeFile(path, header + line(-4) + line(-3) + line(-2)),
    async () => {
      await writeFile(join(folder, 'new'), header + line(-3) + line(-2, '1.09325'))
      await rename(join(folder, 'new'), path)
    },
  ]
  await writeFile(path, header + line(-3) + line(-2))
  const { read, reported, until } = await open()
  for (const [index, change] of changes.entries()) {
    await read('EURUSD.z', '1')
    await change()
    await until(() => reported.readAgain.length > index)
  }
  expect(times((await read('EURUSD.z', '1')).bars)).toEqual([-3, -2])
})

test('an export that appears later is added; other files are logged once', async () => {
  const { log, reported, until } = await open()
  await mkdir(join(folder, 'sub'))
  await writeFile(join(folder, 'notes.txt'), 'x')
  await writeFile(join(folder, 'EURUSD.z_M30.csv'), header)
  await writeFile(join(folder, 'GBP_USD_H1_2025.csv'), header + line(-120))
  await until(() => reported.readAgain.length > 0)
  expect(reported.symbols).toEqual([{ raw: 'GBP_USD', digits: 5, resolutions: ['60'] }])
  expect(reported.readAgain).toEqual([{ raw: 'GBP_USD', resolution: '60' }])
  await until(() => log.length >= 3)
  expect(Object.fromEntries(log.map(({ file, msg }) => [file, msg.includes('derived')]))).toEqual({
    [join(folder, 'EURUSD.z_M30.csv')]: true,
    [join(folder, 'notes.txt')]: false,
    [join(folder, 'sub')]: false,
  })
  expect(log).toHaveLength(3)
})

test('prices with more decimals than the symbol has are rejected, never rounded, and claimed by no window', async () => {
  await writeFile(join(folder, 'EURUSD.z_M1.csv'), header + line(-3) + line(-2, '1.093275') + line(-1))
  const { log, read } = await open()
  const { bars, complete } = await read('EURUSD.z', '1')
  expect(times(bars)).toEqual([-3, -1])
  expect(complete.map(({ from, to }) => [from - feedMinute, to - feedMinute])).toEqual([
    [-180, -120],
    [-60, 0],
  ])
  expect(JSON.stringify(log)).toContain('a price has 6 decimals; the symbol has 5')
})

test('a line that cannot be read is claimed by no window; without a time it may be any bar between its neighbours', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  const bad = line(-8, 'n/a') + line(-7) + 'x\r\n'
  await writeFile(path, header + line(-9) + bad + line(-4) + line(-3))
  const { read } = await open()
  const { bars, complete } = await read('EURUSD.z', '1')
  expect(times(bars)).toEqual([-9, -7, -4, -3])
  expect(complete.map(({ from, to }) => [(from - feedMinute) / 60, (to - feedMinute) / 60])).toEqual([
    [-9, -8],
    [-7, -6],
    [-4, -2],
  ])
})

test('a line without a readable time that was just written is claimed by no window', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-3))
  const { read, reported, until } = await open()
  await read('EURUSD.z', '1')
  await appendFile(path, 'x\r\n')
  await appendFile(path, line(-1))
  await until(() => reported.complete.length > 0)
  expect(times(reported.closed)).toEqual([-1])
  expect(reported.complete).toEqual([{ from: feedMinute - 60, to: feedMinute }])
})

test('a file is read again when an earlier line was rewritten with another length', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  const minutes = Array.from({ length: 30 }, (_, i) => line(i - 31))
  await writeFile(path, header + minutes.join(''))
  const { read, reported, until } = await open()
  await read('EURUSD.z', '1')
  const shorter = minutes.with(20, line(-11).replace('\t42\t', '\t9\t'))
  await writeAt(path, 0, header + shorter.join('') + line(-1))
  await until(() => reported.readAgain.length + reported.closed.length > 0)
  expect([reported.readAgain.length, reported.closed]).toEqual([1, []])
  const { bars } = await read('EURUSD.z', '1')
  expect([bars.length, bars[20]?.volume]).toEqual([31, 9])
})

test('a later file with more decimals raises the decimals of its symbol', async () => {
  const coarse = (text: string) => text.replaceAll(/(1\.09)\d+/g, '$1')
  const path = join(folder, 'GBP_M1_a.csv')
  await writeFile(path, header + coarse(line(-5)))
  const { reported, read, until } = await open()
  await read('GBP', '1')
  await appendFile(path, line(-4))
  await writeFile(join(folder, 'GBP_M1_b.csv'), header + line(-3))
  await until(() => reported.readAgain.length > 0)
  expect(reported.symbols.map(({ digits }) => digits)).toEqual([2, 5])
  expect(times((await read('GBP', '1')).bars)).toEqual([-5, -4, -3])
})

test.each([
  ['a blank line', '\r\n'],
  ['a bad line', 'x\r\n'],
  ['an earlier line', line(-4)],
  ['a line of the same minute', line(0, '1.09319')],
])('a forming bar is reported once it has closed, with %s after it', async (_, behind) => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-1) + line(0) + behind)
  const { clock, log, reported, read, until } = await open()
  const { bars, complete } = await read('EURUSD.z', '1')
  expect(times(bars)).not.toContain(0)
  expect(complete.at(-1)?.to).toBe(feedMinute)
  await clock.advance(40_000)
  await until(() => reported.complete.length > 0)
  expect(reported.closed.filter(({ time }) => time === feedMinute)).toHaveLength(1)
  expect(reported.complete.at(-1)?.to).toBe(feedMinute + 60)
  expect(log.filter(({ msg }) => msg === 'lines rejected').length).toBeLessThanOrEqual(1)
})

test('lines after a line far ahead of the clock are read once, not repeatedly', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(9_000) + line(-3))
  const { reported, read, until } = await open()
  await read('EURUSD.z', '1')
  for (const minute of [-2, -1]) {
    await appendFile(path, line(minute))
    await until(() => reported.closed.at(-1)?.time === feedMinute + minute * 60)
  }
  expect(times(reported.closed)).toEqual([-2, -1])
})

test('a missing folder is logged once, and once more when it can be read again', async () => {
  const { clock, log, until } = await open()
  const reported = (part: string) => log.filter(({ msg }) => msg.includes(part)).length
  await rename(folder, `${folder}-gone`)
  await until(() => reported('does not exist') > 0)
  for (let i = 0; i < 5; i++) await clock.advance(1_000)
  await rename(`${folder}-gone`, folder)
  await until(() => reported('can be read again') > 0)
  expect([reported('does not exist'), reported('can be read again')]).toEqual([1, 1])
})

test('a file that is being read delays no other', async () => {
  const [busy, other] = [join(folder, 'A_M1.csv'), join(folder, 'B_M1.csv')]
  for (const path of [busy, other]) await writeFile(path, header + line(-4) + line(-3))
  const { reported, source, read, until } = await open()
  await read('A', '1')
  await read('B', '1')
  const slow = source.read({ raw: 'A', resolution: '1' }, everything, stop.signal)
  for await (const { bars } of slow) {
    expect(times(toList(bars))).toEqual([-4, -3])
    for (const path of [busy, other]) await appendFile(path, line(-2))
    await until(() => reported.closed.length > 0)
    break
  }
  expect(times(reported.closed)).toEqual([-2])
  await read('A', '1')
})

test('for a time that several files contain, only the bar of the last file by name is returned', async () => {
  await writeFile(join(folder, 'EURUSD.z_M1_b.csv'), header + line(-3, '1.09325') + line(-2, '1.09325'))
  await writeFile(join(folder, 'EURUSD.z_M1_a.csv'), header + line(-4) + line(-3) + line(-1))
  const { read } = await open()
  for (let i = 0; i < 2; i++) {
    const { bars } = await read('EURUSD.z', '1')
    expect(bars.map(({ time, close }) => [(time - feedMinute) / 60, close])).toEqual([
      [-4, 1.09327],
      [-1, 1.09327],
      [-3, 1.09325],
      [-2, 1.09325],
    ])
  }
})

test('a file without a bar, or no export, blocks no other file and is read when it changes', async () => {
  await writeFile(join(folder, 'AAA_M1.csv'), 'not an export\n')
  await writeFile(join(folder, 'BBB_M1.csv'), '')
  await writeFile(join(folder, 'CCC_M1.csv'), header + line(-3))
  const { reported, until } = await open()
  expect(reported.symbols.map(({ raw, digits }) => [raw, digits])).toEqual([['CCC', 5]])
  for (const raw of ['BBB', 'AAA']) await writeFile(join(folder, `${raw}_M1.csv`), header + line(-3))
  await until(() => reported.symbols.length === 3)
  expect(reported.symbols.map(({ digits }) => digits)).toEqual([5, 5, 5])
})
