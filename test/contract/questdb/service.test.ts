import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Config, parseConfig } from '../../../services/platform/config.ts'
import { createLog, silentLog } from '../../../services/platform/log/log.ts'
import { Fatal } from '../../../services/platform/process/exit.ts'
import { EndedWhileWaiting } from '../../../services/platform/until-available.ts'
import { type RunningAll, startAll } from '../../../services/roles/all.ts'
import type { RoleOverrides } from '../../../services/roles/stores.ts'
import { schemaVersion } from '../../../services/stores/questdb/layout/migrate.ts'
import { newKey } from '../../support/clients/new-key.ts'
import { fxd } from '../../support/fixtures/cli-fixture.ts'
import { temporaryFolder } from '../../support/fixtures/temporary-folder.ts'
import { freePorts } from '../../support/free-ports.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { feedManifest } from '../../support/samples/feed-manifest.ts'

const server = oneServer()
const longTimeout = { timeout: 400_000 }
const untilServed = { timeout: 150_000, interval: 100 }
const symbol = 'BROKERA:ZERO:BTCUSD'
/** A feed with few tables; only the last test uses the feeds of the demo. */
const manifestOf = (account: string): string =>
  JSON.stringify(
    feedManifest({
      account,
      resolutions: ['60'],
      depth: { '60': '30d' },
      symbols: { list: [{ raw: 'BTCUSD', type: 'crypto', digits: 2 }] },
      source: { type: 'Simulator', seed: 1 },
    }),
  )

let prefixes = 0
const freshPrefix = (): string => `s${++prefixes}_`

async function configured(more: Partial<Config> = {}): Promise<Config> {
  // Fixed ports, so that tests know them before the service listens.
  const [http = 0, ops = 0] = await freePorts(2)
  const feeds = join(temporaryFolder(), 'feeds.yaml')
  writeFileSync(feeds, manifestOf('ZERO'))
  return {
    ...parseConfig({}),
    httpAddr: { host: '127.0.0.1', port: http },
    grpcAddr: { host: '127.0.0.1', port: 0 },
    opsAddr: { host: '127.0.0.1', port: ops },
    dataDir: temporaryFolder(),
    store: 'questdb',
    questdbHttp: server().http,
    questdbPg: server().pg,
    questdbPrefix: freshPrefix(),
    feeds,
    ...more,
  }
}

/** Starts a service that stops when the test ends, also while it waits for QuestDB. */
function start(config: Config, overrides: RoleOverrides = {}): Promise<RunningAll> {
  const ending = new AbortController()
  const starting = startAll(config, { log: silentLog, ending: ending.signal, ...overrides })
  onTestFinished(async () => {
    ending.abort()
    await starting.then(
      (service) => service.stop(),
      () => undefined,
    )
  }, longTimeout.timeout)
  return starting
}

/** The variables of the command line of an administrator. */
const administration = (config: Config, { grpcPort }: RunningAll) => ({
  FXD_GRPC_ADDR: `127.0.0.1:${grpcPort}`,
  FXD_DATA_DIR: config.dataDir,
})

/** Makes a key for the feed by the command line; returns its secret. */
const makeKey = (config: Config, service: RunningAll): Promise<string> =>
  newKey(
    administration(config, service),
    '--plan enterprise --rpm 100000 --rpd 1000000 --ws-connections 1 --ws-symbols 1 --feeds BROKERA:ZERO',
  )

/** Number of readable bars of the feed in QuestDB. */
const storedBars = async ({ questdbPrefix }: Config): Promise<number> =>
  Number(
    (
      await server()
        .exec(`SELECT count() FROM ${questdbPrefix}bars_brokera_zero_h1`)
        .catch(() => [])
    )[0]?.[0] ?? 0,
  )

const ask = async (port: number, path: string, key = '') => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: key ? { 'x-api-key': key } : {},
  })
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    text: await response.text(),
  }
}
const readyStatus = (config: Config): Promise<number> =>
  ask(config.opsAddr.port, '/readyz').then(
    ({ status }) => status,
    () => 0,
  )
const history = `/v1/history?symbol=${symbol}&resolution=60&countback=3`

/** Kills QuestDB. It is started again by the test or at its end. */
async function stopQuestdb(): Promise<void> {
  await server().kill()
  onTestFinished(async () => {
    await server().kill()
    await server().start()
  }, longTimeout.timeout)
}

describe('fxd all with its bars in QuestDB', longTimeout, () => {
  test('started without QuestDB it is alive, not ready and answers 500 with Retry-After; it serves once QuestDB is available', async () => {
    const config = await configured()
    await stopQuestdb()
    const starting = start(config)
    await expect.poll(() => readyStatus(config), untilServed).toBe(503)
    const asked = () => ask(config.httpAddr.port, history, `fxd_${'0'.repeat(32)}`)
    await expect.poll(() => asked().catch(() => undefined), untilServed).toBeDefined()
    const refused = await asked()
    expect(refused).toMatchObject({ status: 500, retryAfter: '2' })
    expect(refused.text).toContain('SERVER_ERROR')
    expect((await ask(config.opsAddr.port, '/livez')).status).toBe(200)
    expect(await readyStatus(config)).toBe(503)
    await server().start()
    const key = await makeKey(config, await starting)
    // A busy process may report not ready for a moment.
    await expect.poll(() => readyStatus(config), untilServed).toBe(200)
    await expect
      .poll(async () => (await ask(config.httpAddr.port, history, key)).text, untilServed)
      .toContain('"s":"ok"')
  })

  test('during a QuestDB outage history fails and status is degraded; other requests succeed, and all do after the outage', async () => {
    const config = await configured()
    const key = await makeKey(config, await start(config))
    const get = (path: string) => ask(config.httpAddr.port, path, key)
    await expect.poll(async () => (await get(history)).text, untilServed).toContain('"s":"ok"')
    await expect.poll(async () => (await get('/v1/status')).text, untilServed).toContain('"status":"ok"')
    await stopQuestdb()
    expect(await get(history)).toMatchObject({ status: 500, retryAfter: '2' })
    const status = await get('/v1/status')
    expect(status.status).toBe(200)
    expect(status.text).toMatch(/^{"status":"degraded"/)
    expect((await get(`/v1/symbols?symbol=${symbol}`)).status).toBe(200)
    expect((await get('/v1/usage')).status).toBe(200)
    expect((await get('/v1/config')).status).toBe(200)
    await expect.poll(() => readyStatus(config), untilServed).toBe(200)
    await server().start()
    await expect.poll(async () => (await get(history)).text, untilServed).toContain('"s":"ok"')
    await expect.poll(async () => (await get('/v1/status')).text, untilServed).toContain('"status":"ok"')
  })

  test('keys and bars are in QuestDB: a service with another data folder serves them', async () => {
    const config = await configured()
    const first = await start(config)
    const key = await makeKey(config, first)
    await expect.poll(() => storedBars(config), untilServed).toBeGreaterThan(700)
    await first.stop()
    const second = await start({ ...config, dataDir: temporaryFolder() })
    await expect
      .poll(async () => (await ask(second.httpPort, history, key)).text, untilServed)
      .toContain('"s":"ok"')
  })

  test('`fxd feeds purge` removes the bars of a feed without a manifest from QuestDB', async () => {
    const config = await configured()
    const first = await start(config)
    await expect.poll(() => storedBars(config), untilServed).toBeGreaterThan(700)
    await first.stop()
    writeFileSync(String(config.feeds), manifestOf('PRIME'))
    const second = await start(config)
    const { code, out, err } = await fxd('feeds purge BROKERA:ZERO --json', administration(config, second))
    expect(code, err).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ feed: 'BROKERA:ZERO' })
    expect(await storedBars(config)).toBe(0)
  })

  test('a process that waits for QuestDB ends at once when it is stopped', async () => {
    const [port = 0] = await freePorts(1)
    const away = { host: '127.0.0.1', port }
    const config = await configured({ questdbHttp: away, questdbPg: away })
    const ending = new AbortController()
    const starting = start(config, { ending: ending.signal })
    await expect.poll(() => readyStatus(config), untilServed).toBe(503)
    ending.abort()
    await expect(starting).rejects.toBeInstanceOf(EndedWhileWaiting)
    expect(await readyStatus(config)).toBe(0)
  })

  test('tables of a newer fxd end the start with an error that says to start the newer fxd', async () => {
    const config = await configured()
    await (await start(config)).stop()
    const schema = `${config.questdbPrefix}schema`
    await server().exec(`INSERT INTO ${schema} (ts, version) VALUES (0, ${schemaVersion + 1})`)
    await server().exec(`SELECT wait_wal_table('${schema}')`)
    const cause: unknown = await start(config).then(
      (service) => service.stop(),
      (error: unknown) => error,
    )
    expect(cause).toBeInstanceOf(Fatal)
    expect((cause as Fatal).message).toContain('Start the newer fxd')
  })

  test.each([
    ['nosync', 0],
    // A mode of a later version: this version accepts any value silently, and then does not wait for the disk.
    ['adaptive', 0],
    ['sync', 1],
  ])(
    'the commit mode %s at start sets its gauge, and logs a warning unless it waits for the disk',
    async (mode, gauge) => {
      await server().kill()
      await server().start({ QDB_CAIRO_COMMIT_MODE: mode })
      let lines = ''
      const into = new Writable({
        write(piece, _encoding, done) {
          lines += String(piece)
          done()
        },
      })
      const { opsPort } = await start(await configured(), { log: createLog('warn', into) })
      expect(lines.includes('QDB_CAIRO_COMMIT_MODE=sync')).toBe(gauge === 0)
      expect((await ask(opsPort, '/metrics')).text).toContain(`\nfxd_questdb_commit_synced ${gauge}\n`)
    },
  )

  test('the demo feeds are served while their tables are filled, and after a restart meanwhile', async () => {
    const demo = { feeds: undefined, dataDir: temporaryFolder(), questdbPrefix: freshPrefix() }
    const first = await start(await configured(demo))
    const { firstKey = '' } = first
    const served = async ({ httpPort }: RunningAll): Promise<void> => {
      // Symbols that trade on Sundays too.
      for (const traded of ['BROKERA:ZERO:BTCUSD', 'BROKERB:LIVE:ETHUSD', 'BROKERF:LIVE:BTCUSD']) {
        const path = `/v1/history?symbol=${traded}&resolution=60&countback=300`
        await expect
          .poll(async () => (await ask(httpPort, path, firstKey)).text, untilServed)
          .toContain('"s":"ok"')
      }
    }
    await served(first)
    await first.stop()
    await served(await start(await configured(demo)))
  })
})
