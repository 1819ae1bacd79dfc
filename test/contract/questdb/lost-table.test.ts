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
const symbol = (account: string): string => `BROKERA:${account}:BTCUSD`

/** A feed with bars of its hours and minutes; each resolution has tables of its own. */
const manifestOf = (account: string): string =>
  JSON.stringify(
    feedManifest({
      account,
      resolutions: ['1', '60'],
      depth: { '1': '1h', '60': '30d' },
      symbols: { list: [{ raw: 'BTCUSD', type: 'crypto', digits: 2 }] },
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
    newest: async (account: string): Promise<number> => {
      const { text } = await get(`/v1/history?symbol=${symbol(account)}&resolution=1&countback=1`)
      return (JSON.parse(text) as { t?: number[] }).t?.[0] ?? 0
    },
    status: () => get('/v1/status'),
  }
}

test('a dropped table of bars fails the history and coverage of its series alone; a refill brings its bars back', {
  timeout,
}, async () => {
  const { cli, coverage, history, newest, status } = await started()
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
  // Minutes of both feeds are collected on.
  const [zero, vip] = [await newest('ZERO'), await newest('VIP')]
  await expect.poll(() => newest('ZERO'), untilServed).toBeGreaterThan(zero)
  await expect.poll(() => newest('VIP'), untilServed).toBeGreaterThan(vip)
  expect((await history('ZERO')).status).toBe(500)

  const accepted = await cli(`store accept ${table}`)
  expect([accepted.code, accepted.err]).toEqual([1, expect.stringContaining('is missing')])
  const refilled = await cli(`store refill ${table}`)
  expect(refilled.code, refilled.err).toBe(0)
  await expect.poll(async () => (await history('ZERO')).text, untilServed).toBe(before)
  await expect.poll(async () => (await coverage('ZERO')).text, untilServed).toContain(covered.slice(0, -10))
  await expect.poll(async () => (await status()).text, untilServed).toMatch(/^{"status":"ok"/)
  expect((await cli('store accept --all')).out).toBe('All tables are in order already.\n')
})
