import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Bar, minutes } from './client/bars.ts'
import { minutesAgo } from './client/clocks.ts'
import { secondsOfDayLeft } from './client/day.ts'
import { barsOf, readHistory } from './client/history.ts'
import { ask, read } from './client/http.ts'
import { FollowedFile, importFile } from './client/input.ts'
import { issueKey, revokeKey } from './client/keys.ts'
import { openRelay } from './client/relay.ts'
import { makeHome, type RunningService, startService, storeOf } from './client/service-process.ts'
import { closeSockets, connect } from './client/socket.ts'
import { useTarget } from './client/target.ts'
import { until } from './client/until.ts'

/** These tests stop and kill the service, so they start a separate one, whatever the target of the others. */
let home = ''
let discard = () => undefined as void
let running: RunningService

const start = async (env: Record<string, string> = {}) => {
  running = await startService(home, { env })
  useTarget(running.target)
}
beforeEach(async () => {
  ;({ home, discard } = makeHome())
  await start()
})
afterEach(async () => {
  closeSockets()
  await running.stop('SIGKILL')
  discard()
})

const symbol = 'BROKERA:ZERO:EURUSD'
const stored = async (key: string) =>
  barsOf(await readHistory(key, { symbol, resolution: '1', countback: 1000 }))
const feedWith = async (
  key: string,
  bars: readonly Bar[],
  areThere = async () => (await stored(key)).length === bars.length,
  deadlineMs = 20_000,
) => {
  const file = new FollowedFile('brokera-zero', 'EURUSD.z_M1.csv')
  file.write(bars)
  await until('the bars', areThere, deadlineMs)
  return file
}
const coverageOf = async (key: string) =>
  (await read<{ coverage: unknown[] }>(`/v1/coverage?symbol=${symbol}`, key)).coverage
/** Waits until the bars are stored, not only pushed: their coverage is stored after them. */
const storeBars = async (key: string, bars: readonly Bar[]) => {
  await feedWith(key, bars)
  await until('their coverage', async () => (await coverageOf(key)).length > 0)
}
const someMinutes = () => minutes(minutesAgo('BROKERA:ZERO', 60), 30, 1.1, 5)

test('a stop closes open sockets with 1012 and ends the process within seconds', async () => {
  const { key } = await issueKey()
  const sockets = await Promise.all([connect(key), connect(key), connect(key)])
  const asked = Date.now()
  const ended = running.stop('SIGINT')
  for (const socket of sockets) expect(await socket.closed).toMatchObject({ code: 1012, reason: 'draining' })
  expect(await ended).toBe(0)
  expect(Date.now() - asked).toBeLessThan(10_000)
})

test('a request in progress when the service stops is answered in full', async () => {
  const { key } = await issueKey()
  const bars = minutes(Date.UTC(2020, 0, 6) / 1000, 60_000, 1.1, 5)
  const areThere = async () => {
    const got = await readHistory(key, { symbol, resolution: '1', countback: 1 })
    return got.t?.at(-1) === bars.at(-1)?.time
  }
  await feedWith(key, bars, areThere, 45_000)
  const path = `/v1/history?symbol=${symbol}&resolution=1&from=0&to=4000000000`
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const headers = { 'X-API-Key': key }
    http.get(`${running.target.url}${path}`, { agent: false, headers }, resolve).on('error', reject)
  })
  const first = await new Promise<Buffer>((resolve) => {
    response.once('data', (part: Buffer) => {
      response.pause()
      resolve(part)
    })
  })
  const parts = [first]
  const ended = running.stop()
  for await (const part of response) parts.push(part as Buffer)
  const history = JSON.parse(Buffer.concat(parts).toString('utf8')) as {
    meta: { bar_count: number }
    t: number[]
  }
  expect(history.t).toHaveLength(60_000)
  expect(history.meta.bar_count).toBe(60_000)
  expect(await ended).toBe(0)
})

test('a restart keeps bars, coverage, keys, revocations and the usage of the day', async () => {
  await secondsOfDayLeft(30)
  const [kept, gone] = await Promise.all([issueKey(), issueKey()])
  await revokeKey(gone.id)
  const bars = someMinutes()
  await storeBars(kept.key, bars)
  const coverage = await coverageOf(kept.key)
  const before = await read<{ today: { requests: number } }>('/v1/usage', kept.key)
  await running.stop()
  await start()
  expect(await stored(kept.key)).toEqual(bars)
  expect(await coverageOf(kept.key)).toEqual(coverage)
  const after = await read<{ today: { requests: number } }>('/v1/usage', kept.key)
  expect(after.today.requests).toBe(before.today.requests + 3)
  expect((await ask('/v1/status', { key: gone.key })).body.error.code).toBe('KEY_INACTIVE')
})

test('a service killed at any moment loses no bar that was read, no key and no revocation', async () => {
  const [kept, gone] = await Promise.all([issueKey(), issueKey()])
  const bars = someMinutes()
  const file = await feedWith(kept.key, bars.slice(0, 20))
  const socket = await connect(kept.key)
  await socket.subscribe([symbol])
  await revokeKey(gone.id)
  file.append(...bars.slice(20))
  await until('the first pushed bar', () => socket.bars().length > 0)
  const pushed = socket.bars().map(({ bar }) => bar)
  await running.stop('SIGKILL')
  await start()
  await until('every bar of the file', async () => (await stored(kept.key)).length === bars.length)
  expect(await stored(kept.key)).toEqual(bars)
  expect(bars).toEqual(expect.arrayContaining(pushed))
  expect((await ask('/v1/status', { key: gone.key })).body.error.code).toBe('KEY_INACTIVE')
})

test("a feed's receipt times are kept over a restart", async () => {
  const { key } = await issueKey()
  const bars = someMinutes()
  const file = await feedWith(key, bars.slice(0, 10))
  file.append(bars[10] as Bar)
  await until('the live bar', async () => (await stored(key)).length === 11)
  interface Feeds {
    feeds: Record<string, { status: string; liveness_source: string; last_candle_age_seconds: number }>
  }
  const before = await read<Feeds>('/v1/status', key)
  expect(before.feeds['BROKERA:ZERO']).toMatchObject({ status: 'live', liveness_source: 'candle' })
  await running.stop()
  const down = Date.now()
  // So that an age that began again is too low.
  await pause(3_000)
  await start()
  const { feeds } = await read<Feeds>('/v1/status', key)
  expect(feeds['BROKERA:ZERO']).toMatchObject({ status: 'live', liveness_source: 'candle' })
  const age = feeds['BROKERA:ZERO']?.last_candle_age_seconds ?? -1
  expect(age).toBeGreaterThanOrEqual(Math.floor((Date.now() - down) / 1000) - 1)
  expect(age).toBeLessThan(300)
})

test('a feed without its manifest is hidden after the next start, and its bars are there when the manifest returns', async () => {
  const { key } = await issueKey()
  const bars = someMinutes()
  await storeBars(key, bars)
  await running.stop()
  const manifest = join(home, 'feeds', 'brokera-zero.yaml')
  const text = readFileSync(manifest, 'utf8')
  rmSync(manifest)
  await start()
  expect((await ask('/v1/symbols?limit=1000', { key })).text).not.toContain('BROKERA:ZERO')
  expect(await readHistory(key, { symbol, resolution: '1', countback: 5 })).toEqual({ s: 'no_data' })
  expect((await ask(`/v1/symbols?symbol=${symbol}`, { key })).status).toBe(404)
  await running.stop()
  writeFileSync(manifest, text)
  await start()
  expect(await stored(key)).toEqual(bars)
})

/**
 * Returns a function that makes the store of this service unreadable. For the embedded store it overwrites the
 * files. Other services of the run share QuestDB, so there it cuts the connections of this service.
 */
const prepareDamage = async (): Promise<() => unknown> => {
  const { FXD_QUESTDB_HTTP: writes, FXD_QUESTDB_PG: reads } = storeOf(home)
  if (writes === undefined || reads === undefined) {
    return () => {
      // Damaging the index of the write-ahead log too makes SQLite read every page again. In place: the file is mapped.
      for (const name of ['fxd.db', 'fxd.db-wal', 'fxd.db-shm']) {
        const path = join(home, 'data', name)
        if (existsSync(path)) writeFileSync(path, randomBytes(statSync(path).size), { flag: 'r+' })
      }
    }
  }
  const [forWrites, forReads] = await Promise.all([openRelay(writes), openRelay(reads)])
  await running.stop()
  await start({ FXD_QUESTDB_HTTP: forWrites.address, FXD_QUESTDB_PG: forReads.address })
  return () => Promise.all([forWrites.cut(), forReads.cut()])
}

test('while the store cannot be read, history answers 500 in time, never no_data, and the platform is degraded', async () => {
  const damage = await prepareDamage()
  const { key } = await issueKey()
  const file = fileURLToPath(new URL('../data/BTCUSD_M1_201311.csv', import.meta.url))
  const done = await importFile(file, { feed: 'BROKERA:ZERO', symbol: 'BTCUSD', resolution: '1' })
  expect(done.code, done.stderr).toBe(0)
  const series = 'symbol=BROKERA:ZERO:BTCUSD'
  const paths = [
    `/v1/history?${series}&resolution=1&countback=10000`,
    `/v1/history?${series}&resolution=30&from=0&to=4000000000`,
    `/v1/coverage?${series}`,
  ]
  await until('requests to fail', async () => {
    await damage()
    const answers = await Promise.all(paths.map((path) => ask(path, { key })))
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 500))
    return true
  })
  for (const path of paths) {
    const asked = Date.now()
    const answer = await ask(path, { key })
    expect(answer.status, `${path}: ${answer.text.slice(0, 200)}`).toBe(500)
    expect(answer.body.error.code).toBe('SERVER_ERROR')
    expect(answer.headers['retry-after']).toBe('2')
    expect(Date.now() - asked).toBeLessThan(7000)
  }
  expect(await read('/v1/status', key)).toMatchObject({ status: 'degraded' })
  expect((await ask('/v1/symbols', { key })).status).toBe(200)
})

test('SIGHUP applies changed manifests; invalid ones change nothing', async () => {
  const { key } = await issueKey()
  const manifest = join(home, 'feeds', 'brokerd-live.yaml')
  const text = readFileSync(manifest, 'utf8')
  const listed = async () =>
    (await read<{ symbols: { symbol: string }[] }>('/v1/symbols?search=eursek', key)).symbols
  expect(await listed()).toEqual([])
  writeFileSync(manifest, text.replace('raw: EURUSD', 'raw: EURSEK'))
  running.process.kill('SIGHUP')
  await until('the new symbol', async () => (await listed()).length === 1)
  writeFileSync(manifest, text.replace('raw: EURUSD', 'raw: EURNOK').replace('digits: 5', 'digits: five'))
  running.process.kill('SIGHUP')
  await until('the rejected manifest in the log', () =>
    readFileSync(running.target.log, 'utf8').includes('digits'),
  )
  expect(await listed()).toHaveLength(1)
})

test('no key is stored in plain text: the data folder contains none of the issued keys', async () => {
  const issued = await Promise.all([issueKey({ name: 'first' }), issueKey({ name: 'second' })])
  for (const { key } of issued) await read('/v1/usage', key)
  await running.stop()
  const folder = join(home, 'data')
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)))
  expect(files.some((bytes) => bytes.includes(issued[0]?.id ?? '?'))).toBe(true)
  for (const { key } of issued) {
    for (const bytes of files) {
      expect(bytes.includes(key)).toBe(false)
      expect(bytes.includes(key.slice(4))).toBe(false)
    }
  }
})
