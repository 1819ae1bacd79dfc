import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Config, parseConfig } from '../../../services/platform/config.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { Fatal } from '../../../services/platform/process/exit.ts'
import { type RunningAll, startAll } from '../../../services/roles/all.ts'
import { newKey } from '../../support/clients/new-key.ts'
import { readAnswer, upgradeRequest } from '../../support/clients/raw-upgrade.ts'
import { temporaryFolder } from '../../support/fixtures/temporary-folder.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { freshPrefix } from '../../support/redis/stores.ts'
import { oneSymbolFeed, simulated } from '../../support/samples/one-symbol-feed.ts'

const longTimeout = { timeout: 120_000 }
const untilServed = { timeout: 30_000, interval: 100 }

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

function configured(more: Partial<Config> = {}): Config {
  const feeds = join(temporaryFolder(), 'feeds.yaml')
  writeFileSync(feeds, oneSymbolFeed(simulated))
  const anyPort = { host: '127.0.0.1', port: 0 }
  return {
    ...parseConfig({}),
    httpAddr: anyPort,
    grpcAddr: anyPort,
    opsAddr: anyPort,
    dataDir: temporaryFolder(),
    redis: server.url,
    redisPrefix: freshPrefix(),
    feeds,
    ...more,
  }
}

/** Starts a service that stops when the test ends. */
async function start(config: Config): Promise<RunningAll> {
  const running = await startAll(config, { log: silentLog })
  onTestFinished(() => running.stop())
  return running
}

const makeKey = ({ dataDir }: Config, { grpcPort }: RunningAll): Promise<string> =>
  newKey(
    { FXD_GRPC_ADDR: `127.0.0.1:${grpcPort}`, FXD_DATA_DIR: dataDir },
    '--plan enterprise --rpm 100000 --rpd 1000000 --ws-connections 1 --ws-symbols 1 --feeds BROKERA:ZERO',
  )

const ask = async (port: number, path: string, key: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': key } })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('fxd all with Redis', longTimeout, () => {
  test('while Redis is unavailable usage fails and status is degraded; requests are admitted by share and counted after its return', async () => {
    const config = configured()
    const running = await start(config)
    const key = await makeKey(config, running)
    const get = (path: string) => ask(running.httpPort, path, key)
    const platform = async () => (await get('/v1/status')).body['status']
    await expect.poll(platform, untilServed).toBe('ok')
    const symbols = async (): Promise<number> => {
      const { body } = await get('/v1/usage')
      return (body['today'] as Record<string, number> | undefined)?.['symbols'] ?? -1
    }
    for (let i = 0; i < 3; i++) expect((await get('/v1/symbols')).status).toBe(200)
    expect(await symbols()).toBe(3)
    await server.kill()
    for (let i = 0; i < 4; i++) expect((await get('/v1/symbols')).status).toBe(200)
    await expect.poll(platform, untilServed).toBe('degraded')
    await expect.poll(async () => (await get('/v1/usage')).status, untilServed).toBe(500)
    expect((await fetch(`http://127.0.0.1:${running.opsPort}/readyz`)).status).toBe(200)
    await server.start()
    await expect.poll(platform, untilServed).toBe('ok')
    // This Redis restarted empty: it has only the requests that were counted during the outage.
    await expect.poll(symbols, untilServed).toBe(4)
  })

  test('right after Redis was emptied an upgrade is refused with 503 and Retry-After, not with 429', async () => {
    const config = configured()
    const running = await start(config)
    const key = await makeKey(config, running)
    const socket = connect(running.httpPort, '127.0.0.1')
    socket.write(upgradeRequest(`/v1/stream?api_key=${key}`))
    const { status, head, body } = await readAnswer(socket)
    expect(status).toBe(503)
    expect(head).toMatch(/\r\nretry-after: \d+/i)
    expect(body.error.code).toBe('SERVER_ERROR')
  })

  test('a Redis that evicts keys ends the start with an error that names the right setting', async () => {
    const wrong = await startRedis({ settings: ['maxmemory-policy allkeys-lru'] })
    onTestFinished(() => wrong.stop())
    const starting = start(configured({ redis: wrong.url }))
    await expect(starting).rejects.toThrow(Fatal)
    await expect(starting).rejects.toThrow(/maxmemory-policy noeviction/)
  })
})
