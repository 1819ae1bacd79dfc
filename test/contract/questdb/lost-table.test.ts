import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Config, parseConfig } from '../../../services/platform/config.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { startAll } from '../../../services/roles/all.ts'
import { newKey } from '../../support/clients/new-key.ts'
import { fxd } from '../../support/fixtures/cli-fixture.ts'
import { temporaryFolder } from '../../support/fixtures/temporary-folder.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { feedManifest } from '../../support/samples/feed-manifest.ts'

const server = oneServer()
const timeout = 400_000
const untilServed = { timeout: 150_000, interval: 100 }
const prefix = 'lost_'
const table = `${prefix}bars_brokera_zero_h1`
const symbol = (account: string, name = 'BTCUSD'): string => `BROKERA:${account}:${name}`
/** The minutes of BTCUSD and ETHUSD are in different tables. */
const names = ['BTCUSD', 'ETHUSD']
const minutesOfBtc = `${prefix}bars_brokera_zero_m1_2of4`

/** A feed with bars of its hours and minutes; each resolution has tables of its own. */
const manifestOf = (account: string): string =>
  JSON.stringify(
    feedManifest({
      account,
      resolutions: ['1', '60'],
      depth: { '1': '1h', '60': '30d' },
      symbols: { list: names.map((raw) => ({ raw, type: 'crypto', digits: 2 })) },
      source: { type: 'Simulator', seed: 1 },
    }),
  )

/** `fxd all` on QuestDB with two feeds, a key for them, and the command line of its administrator. */
async function started() {
  const feeds = join(temporaryFolder(), 'feeds.yaml')
  writeFileSync(feeds, `${manifestOf('ZERO')}\n---\n${manifestOf('VIP')}\n`)
  const local = { host: '127.0.0.1', port: 0 }
  const config: Config = {
    ...parseConfig({}),
    httpAddr: local,
    grpcAddr: local,
    opsAddr: local,
    dataDir: temporaryFolder(),
    store: 'questdb',
    questdbHttp: server().http,
    questdbPg: server().pg,
    questdbPrefix: prefix,
    feeds,
  }
  const service = await startAll(config, { log: silentLog })
  onTestFinished(() => service.stop(), timeout)
  const environment = {
    FXD_GRPC_ADDR: `127.0.0.1:${service.grpcPort}`,
    FXD_DATA_DIR: config.dataDir,
    FXD_STORE: 'questdb',
    FXD_QUESTDB_HTTP: `${server().http.host}:${server().http.port}`,
    FXD_QUESTDB_PG: `${server().pg.host}:${server().pg.port}`,
    FXD_QUESTDB_PREFIX: prefix,
  }
  const key = await newKey(
    environment,
    '--plan enterprise --rpm 100000 --rpd 1000000 --ws-connections 1 --ws-symbols 1 --feeds BROKERA:ZERO,BROKERA:VIP',
  )
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${service.httpPort}${path}`, {
      headers: { 'x-api-key': key },
    })
    return { status: answer.status, text: await answer.text() }
  }
  const range = `from=0&to=${Math.floor(Date.now() / 3_600_000) * 3_600 - 3_600}`
  return {
    cli: (line: string) => fxd(line, environment),
    coverage: (account: string) => get(`/v1/coverage?symbol=${symbol(account)}`),
    history: (account: string, resolution = '60') =>
      get(`/v1/history?symbol=${symbol(account)}&resolution=${resolution}&${range}`),
    /** Open times of the newest bars of one minute. */
    minutes: async (name: string, count: number): Promise<readonly number[]> => {
      const { text } = await get(`/v1/history?symbol=${symbol('ZERO', name)}&resolution=1&countback=${count}`)
      return (JSON.parse(text) as { t?: number[] }).t ?? []
    },
    status: () => get('/v1/status'),
  }
}

test('a dropped table of bars fails the history and coverage of its series alone; a refill brings its bars back', {
  timeout,
}, async () => {
  const { cli, coverage, history, minutes, status } = await started()
  const isFilled = (text: string): boolean => text.split(',').length > 6 * 700
  const full = async (account: string): Promise<string> => {
    await expect.poll(async () => isFilled((await history(account)).text), untilServed).toBe(true)
    await expect.poll(async () => (await coverage(account)).text, untilServed).toContain('"from"')
    return (await history(account)).text
  }
  const [before, other] = [await full('ZERO'), await full('VIP')]
  const covered = (await coverage('ZERO')).text
  expect((await status()).text).toMatch(/^{"status":"ok"/)

  await server().exec(`DROP TABLE ${table}`)
  await expect.poll(async () => (await history('ZERO')).status, untilServed).toBe(500)
  expect((await history('ZERO')).text).toContain('SERVER_ERROR')
  expect((await coverage('ZERO')).status).toBe(500)
  await expect.poll(async () => (await status()).text, untilServed).toMatch(/^{"status":"degraded"/)
  expect((await history('VIP')).text).toBe(other)
  const found = await cli('doctor')
  expect([found.code, found.out]).toEqual([1, expect.stringContaining(`fxd store refill ${table}`)])
  const accepted = await cli(`store accept ${table}`)
  expect([accepted.code, accepted.err]).toEqual([1, expect.stringContaining('is missing')])
  const refilled = await cli(`store refill ${table}`)
  expect(refilled.code, refilled.err).toBe(0)
  await expect.poll(async () => (await history('ZERO')).text, untilServed).toBe(before)
  await expect.poll(async () => (await coverage('ZERO')).text, untilServed).toContain(covered.slice(0, -10))
  await expect.poll(async () => (await status()).text, untilServed).toMatch(/^{"status":"ok"/)
  expect((await cli('store accept --all')).out).toBe('All tables are in order already.\n')

  // Series in other tables of the same resolution are collected on.
  const stored = async (): Promise<number> =>
    Number((await server().exec(`SELECT count() FROM ${minutesOfBtc} WHERE sym = 'BTCUSD'`))[0]?.[0])
  await expect.poll(() => stored().catch(() => 0), untilServed).toBeGreaterThan(50)
  await server().exec(`DROP TABLE ${minutesOfBtc}`)
  await expect.poll(async () => (await history('ZERO', '1')).status, untilServed).toBe(500)
  const [newest = 0] = await minutes('ETHUSD', 1)
  const next = async (): Promise<number> => (await minutes('ETHUSD', 1))[0] ?? 0
  await expect.poll(next, untilServed).toBe(newest + 60)
  await expect.poll(next, untilServed).toBe(newest + 120)
  expect((await history('ZERO', '1')).status).toBe(500)
  expect((await cli(`store refill ${minutesOfBtc}`)).code).toBe(0)
  await expect.poll(async () => (await minutes('BTCUSD', 50)).length, untilServed).toBe(50)
  await expect
    .poll(async () => (await minutes('BTCUSD', 1))[0] === (await minutes('ETHUSD', 1))[0], untilServed)
    .toBe(true)
})
