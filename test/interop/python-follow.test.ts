import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Bar, minutes } from '../acceptance/client/bars.ts'
import { minutesAgo } from '../acceptance/client/clocks.ts'
import { barsOf, readHistory } from '../acceptance/client/history.ts'
import { ask } from '../acceptance/client/http.ts'
import { FollowedFile } from '../acceptance/client/input.ts'
import { issueKey, revokeKey } from '../acceptance/client/keys.ts'
import { makeHome, type RunningService, startService } from '../acceptance/client/service-process.ts'
import { target, useTarget } from '../acceptance/client/target.ts'
import { until } from '../acceptance/client/until.ts'
import { endForeignProcesses, type ForeignProcess } from './foreign-process.ts'
import { columns, discardStubs, openSession } from './python-collector.ts'
import { itemsOf, PythonPackage, timesOf } from './python-package.ts'

const symbol = 'BROKERA:ZERO:EURUSD'
let python: PythonPackage
let home = ''
let discard = () => undefined as void
let running: RunningService
let key = ''

const start = async (env: Record<string, string> = {}) => {
  running = await startService(home, { env })
  useTarget(running.target)
}
beforeAll(() => {
  python = new PythonPackage()
}, 300_000)
afterAll(() => {
  python.discard()
  discardStubs()
})
beforeEach(async () => {
  ;({ home, discard } = makeHome())
  await start()
  key = (await issueKey()).key
})
afterEach(async () => {
  endForeignProcesses()
  await running.stop('SIGKILL')
  discard()
})

const follow = (options: object): ForeignProcess =>
  python.run('follow.py', [JSON.stringify({ url: target().url, key, symbols: [symbol], ...options })])
const stored = async () => barsOf(await readHistory(key, { symbol, resolution: '1', countback: 10_000 }))
const write = async (bars: readonly Bar[]): Promise<FollowedFile> => {
  const file = new FollowedFile('brokera-zero', 'EURUSD.z_M1.csv')
  file.write(bars)
  await until('the bars', async () => (await stored()).length === Math.min(bars.length, 10_000))
  return file
}
const items = (bars: readonly Bar[]) => bars.map((bar) => ({ type: 'bar', symbol, ...bar }))
const allOf = (follower: ForeignProcess, bars: readonly Bar[]) =>
  until(
    `${bars.length} bars`,
    () => {
      const { length } = itemsOf(follower)
      if (length < bars.length) throw new Error(`${length} came; ${JSON.stringify(follower.lines.at(-1))}`)
      return true
    },
    50_000,
  )

describe.for(['sync', 'async'])('the %s face', (face) => {
  test('gives three days of history and live bars behind it, each once and in order', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 4_320), 4_300, 1.1, 5)
    const file = await write(bars.slice(0, 4_290))
    const follower = follow({ face, start: bars[0]?.time })
    await allOf(follower, bars.slice(0, 4_290))
    for (const bar of bars.slice(4_290)) file.append(bar)
    await allOf(follower, bars)
    expect(itemsOf(follower)).toEqual(items(bars))
  })

  test('a service that is killed and started again costs no bar', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 100), 60, 1.1, 5)
    const file = await write(bars.slice(0, 20))
    const follower = follow({ face, start: bars[0]?.time })
    await allOf(follower, bars.slice(0, 20))
    file.append(...bars.slice(20, 30))
    await until('the first pushed bar', () => timesOf(follower).length > 20)
    await running.stop('SIGKILL')
    file.append(...bars.slice(30, 50))
    const { url } = target()
    await start({ FXD_HTTP_ADDR: new URL(url).host })
    file.append(...bars.slice(50))
    await allOf(follower, bars)
    expect(itemsOf(follower)).toEqual(items(bars))
    const again = follower.lines.filter(({ log }) => String(log).startsWith('connected again: url=ws://'))
    expect(again).toMatchObject([{ level: 'INFO' }])
  })

  test('a program that starts at 1970 gets the first bar within 10 s, and then each bar once', async () => {
    const old = minutes(Date.UTC(2020, 0, 6) / 1000, 12_000, 1.1, 5)
    const bars = [...old, ...minutes(minutesAgo('BROKERA:ZERO', 2_000), 20, 1.1, 5)]
    await write(bars)
    const follower = follow({ face, start: 0 })
    await until('the first bar', () => itemsOf(follower).length > 0, 10_000)
    await allOf(follower, bars)
    expect(itemsOf(follower)).toEqual(items(bars))
  })

  test('a reader that stops, with a buffer of 50 bars, gets all bars, and one warning', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 600), 500, 1.1, 5)
    const file = await write(bars.slice(0, 10))
    const follower = follow({ face, start: bars[0]?.time, buffer: 50, pause: 10 })
    await allOf(follower, bars.slice(0, 10))
    file.append(...bars.slice(10))
    await follower.next('the warning', ({ level }) => level === 'WARNING')
    follower.send({})
    await allOf(follower, bars)
    expect(itemsOf(follower)).toEqual(items(bars))
    const warnings = follower.lines.filter(({ level }) => level === 'WARNING').map(({ log }) => log)
    expect(warnings).toEqual(['buffer full; the socket is closed until the buffer is empty'])
  })

  test('a position continues behind the last bar that was given', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 2_000), 40, 1.1, 5)
    await write(bars)
    const first = follow({ face, start: bars[0]?.time, count: 15 })
    const { position } = await first.next('its position', (line) => 'position' in line)
    expect(position).toEqual({ [symbol]: bars[14]?.time })
    const second = follow({ face, after: position })
    await allOf(second, bars.slice(15))
    expect(itemsOf(second)).toEqual(items(bars.slice(15)))
  })
})

describe('a symbol that leaves and returns', () => {
  test('its GAP is filled from history before later bars', async () => {
    const feed = 'BROKERE:LIVE'
    const pushed = `${feed}:EURUSD`
    const { terminal } = await openSession(feed, 'EURUSD')
    const times = [5, 4, 3, 2].map((back) => minutesAgo('BROKERB:LIVE', back))
    const send = async (sequence: number, lane: string, some: readonly number[]) => {
      terminal.send({ bars: { sequence, lane, series: [columns('EURUSD', some, 110_000)] } })
      await terminal.next('Ack', (line) => 'ack' in line)
    }
    await send(1, 'LANE_LIVE', times.slice(0, 1))
    const follower = follow({ symbols: [pushed], start: times[0] })
    await until('the first bar', () => itemsOf(follower).length === 1)
    const manifest = join(home, 'feeds', 'brokere-live.yaml')
    const text = readFileSync(manifest, 'utf8')
    const found = async () => (await ask(`/v1/symbols?symbol=${pushed}`, { key })).status === 200
    writeFileSync(manifest, text.replace('raw: EURUSD', 'raw: EURNOK'))
    running.process.kill('SIGHUP')
    await until('the symbol to leave', async () => !(await found()))
    writeFileSync(manifest, text)
    running.process.kill('SIGHUP')
    await until('the symbol to return', found)
    await send(2, 'LANE_BACKFILL', times.slice(1, 3))
    await send(3, 'LANE_LIVE', times.slice(3))
    await until('all bars', () => timesOf(follower).length === times.length)
    expect(timesOf(follower)).toEqual(times)
  })
})

describe('a key', () => {
  test('that is revoked ends the iterator with its code', async () => {
    const made = await issueKey()
    await write(minutes(minutesAgo('BROKERA:ZERO', 30), 3, 1.1, 5))
    const follower = follow({ key: made.key, start: minutesAgo('BROKERA:ZERO', 30) })
    await until('the bars', () => itemsOf(follower).length === 3)
    await revokeKey(made.id)
    const end = await follower.next('the end', (line) => 'failed' in line)
    expect(end).toMatchObject({ failed: 'KEY_INACTIVE', close: 4500 })
    const again = follow({ key: made.key })
    expect(await again.next('the end', (line) => 'failed' in line)).toMatchObject({
      failed: 'KEY_INACTIVE',
      status: 401,
    })
  })

  test('whose connections are all in use waits, and follows once one is free', async () => {
    const { key: narrow } = await issueKey({ wsConnections: 1 })
    const bars = minutes(minutesAgo('BROKERA:ZERO', 30), 3, 1.1, 5)
    await write(bars)
    const options = { key: narrow, start: bars[0]?.time }
    const first = follow(options)
    await allOf(first, bars)
    const second = follow(options)
    await second.next('a refusal', ({ log }) => String(log).includes('TOO_MANY_CONNECTIONS'))
    first.kill()
    await allOf(second, bars)
    expect(itemsOf(second)).toEqual(items(bars))
  })

  test('without access to a symbol gets SYMBOL_REJECTED with its name', async () => {
    const follower = follow({ symbols: ['BROKERA:PRIME:EURUSD'] })
    expect(await follower.next('the end', (line) => 'failed' in line)).toMatchObject({
      failed: 'SYMBOL_REJECTED',
      message: expect.stringContaining('BROKERA:PRIME:EURUSD') as unknown,
    })
  })
})

describe('feeds', () => {
  test('a whole feed gives the bars of each of its symbols', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 30), 6, 1.1, 5)
    await write(bars)
    new FollowedFile('brokera-zero', 'GBPUSD.z_M1.csv').write(bars)
    const follower = follow({ symbols: ['BROKERA:ZERO'], start: bars[0]?.time })
    await until('the bars of both', () => itemsOf(follower).length === 12)
    const given = (name: string) =>
      itemsOf(follower).filter((item) => item['symbol'] === `BROKERA:ZERO:${name}`)
    expect(given('EURUSD')).toEqual(items(bars))
    expect(given('GBPUSD').map(({ time }) => time)).toEqual(bars.map(({ time }) => time))
  })

  test('one with heartbeats is judged alive, one without is unknown', async () => {
    const follower = follow({
      symbols: [symbol, 'BROKERG:SIM:BTCUSD'],
      start: minutesAgo('BROKERB:LIVE', 30),
    })
    await until('bars of the simulator', () => itemsOf(follower).length > 5)
    await until('the verdicts', async () => {
      follower.send({})
      const { liveness } = await follower.next('verdicts', (line) => 'liveness' in line)
      expect(liveness).toMatchObject({
        'BROKERA:ZERO': 'unknown',
        'BROKERG:SIM': expect.stringMatching('live|quiet') as unknown,
      })
      return true
    })
  })

  test('a bar that its broker corrects is named only if corrections are wanted', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 30), 6, 1.1, 5)
    const file = await write(bars)
    const [wanting, without] = [true, false].map((revisions) =>
      follow({ start: bars[0]?.time, revisions }),
    ) as [ForeignProcess, ForeignProcess]
    await allOf(wanting, bars)
    await allOf(without, bars)
    const { time } = bars[2] as Bar
    file.write(bars.map((bar) => (bar.time === time ? { ...bar, volume: bar.volume + 1 } : bar)))
    await until('the correction', () => itemsOf(wanting).some(({ type }) => type === 'revised'))
    expect(itemsOf(wanting).slice(bars.length)).toContainEqual({
      type: 'revised',
      symbol,
      resolution: '1',
      start: time,
      end: time,
    })
    expect(itemsOf(without)).toEqual(items(bars))
  })
})

test('the program of the README that survives a kill keeps each bar once, with its position, through kills of the service and of itself', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../clients/python/README.md'), 'utf8')
  const [, after = ''] = readme.split('## A program that survives a kill')
  const program = (/```python\n([\s\S]*?)```/.exec(after)?.[1] ?? '')
    .replace('http://127.0.0.1:8080', target().url)
    .replace('fxd_…', key)
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(25)
  const bars = minutes(minutesAgo('BROKERA:ZERO', 100), 60, 1.1, 5)
  const file = await write(bars.slice(0, 20))
  const folder = mkdtempSync(join(home, 'readme-'))
  const copy = new DatabaseSync(join(folder, 'bars.db'), { timeout: 5_000 })
  onTestFinished(() => copy.close())
  // Counts the writes: the table alone does not show a bar that was written twice.
  copy.exec(`CREATE TABLE bars (symbol, time, open, high, low, close, volume, PRIMARY KEY (symbol, time));
    CREATE TABLE written (time);
    CREATE TRIGGER count BEFORE INSERT ON bars BEGIN INSERT INTO written VALUES (new.time); END`)
  const all = (query: string) => copy.prepare(query).all()
  const position = () => {
    const [row] = all('SELECT json FROM position')
    return JSON.parse(String(row?.['json'])) as Record<string, number>
  }
  const run = () => {
    const env = { ...process.env, PYTHONPATH: python.site }
    const child = spawn(python.interpreter, ['-c', program], { cwd: folder, env, stdio: 'inherit' })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }
  const reaches = (bar: Bar | undefined) =>
    until('a later position', () => (position()[symbol] ?? 0) >= Number(bar?.time), 50_000)
  const first = run()
  await reaches(bars[0])
  const killed = target()
  await running.stop('SIGKILL')
  file.append(...bars.slice(20, 40))
  await start({ FXD_HTTP_ADDR: new URL(killed.url).host })
  useTarget(killed)
  await reaches(bars[20])
  first.kill('SIGKILL')
  await once(first, 'close')
  const { [symbol]: kept = 0 } = position()
  file.append(...bars.slice(40, 59))
  await until('the bars', async () => (await stored()).length === 59)
  run()
  await reaches(bars.find(({ time }) => time > kept))
  const committed = performance.now()
  await until('the next second, when it commits again', () => performance.now() > committed + 1_000)
  file.append(...bars.slice(59))
  await reaches(bars[59])
  expect(all('SELECT * FROM bars ORDER BY time').map((row) => ({ ...row }))).toEqual(
    bars.map((bar) => ({ symbol, ...bar })),
  )
  expect(all('SELECT * FROM written')).toHaveLength(bars.length)
  expect(all('SELECT * FROM gaps')).toEqual([])
})
