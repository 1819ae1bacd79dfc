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

const makeKey = ({ dataDir }: Config, { grpcPort }: RunningAll, rpm = 100_000, rpd = 1_000_000) =>
  newKey(
    { FXD_GRPC_ADDR: `127.0.0.1:${grpcPort}`, FXD_DATA_DIR: dataDir },
    `--plan enterprise --rpm ${rpm} --rpd ${rpd} --ws-connections 1 --ws-symbols 1 --feeds BROKERA:ZERO`,
  )

const ask = async (port: number, path: string, key: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': key } })
  const body = (await response.json()) as Record<string, unknown>
  return { status: response.status, body, header: (name: string) => response.headers.get(name) }
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

  test('started while Redis is unavailable it admits its share of a minute, never judges the day, and is exact once Redis answers', async () => {
    await server.kill()
    const config = configured({ limitsPods: 4 })
    const running = await start(config)
    const [share, rpd] = [10, 3]
    const key = await makeKey(config, running, 4 * share, rpd)
    const symbols = () => ask(running.httpPort, '/v1/symbols', key)
    const answers = [await symbols()]
    while (answers.at(-1)?.status === 200 && answers.length < 100) answers.push(await symbols())
    const refused = answers.at(-1)
    const minute = refused?.header('X-RateLimit-Reset-Minute')
    const ofMinute = answers.filter(({ header }) => header('X-RateLimit-Reset-Minute') === minute)
    expect(ofMinute.map(({ status }) => status)).toEqual([...Array<number>(share).fill(200), 429])
    expect(Number(refused?.header('Retry-After'))).toBeLessThanOrEqual(2)
    expect(refused?.header('X-RateLimit-Exceeded')).toBe('minute')
    const numbers = ['Limit-Minute', 'Remaining-Minute', 'Limit-Day', 'Remaining-Day']
    expect(numbers.map((name) => refused?.header(`X-RateLimit-${name}`))).toEqual(['40', '0', '3', '3'])
    expect(JSON.stringify(refused?.body)).toMatch(/The rate limiter is unavailable.* 10 requests per minute/)
    await server.start()
    // Its use of the outage is added, so the day is used up.
    await expect.poll(async () => (await symbols()).header('X-RateLimit-Exceeded'), untilServed).toBe('day')
    const day = await symbols()
    expect([day.status, day.header('X-RateLimit-Remaining-Day')]).toEqual([429, '0'])
  })

  test('right after Redis was emptied an upgrade is refused with 503 and the rest of the 25 s as Retry-After, not with 429', async () => {
    const config = configured()
    const running = await start(config)
    const key = await makeKey(config, running)
    const upgrade = async () => {
      const socket = connect(running.httpPort, '127.0.0.1')
      socket.write(upgradeRequest(`/v1/stream?api_key=${key}`))
      const { status, head, body } = await readAnswer(socket)
      expect([status, body.error.code]).toEqual([503, 'SERVER_ERROR'])
      return Number(/\r\nretry-after: (\d+)/i.exec(head)?.[1])
    }
    const first = await upgrade()
    expect(first).toBeGreaterThan(10)
    expect(first).toBeLessThanOrEqual(25)
    await expect.poll(upgrade, untilServed).toBeLessThan(first)
  })

  test('a Redis that evicts keys ends the start with an error that names the right setting', async () => {
    const wrong = await startRedis({ settings: ['maxmemory-policy allkeys-lru'] })
    onTestFinished(() => wrong.stop())
    const starting = start(configured({ redis: wrong.url }))
    await expect(starting).rejects.toThrow(Fatal)
    await expect(starting).rejects.toThrow(/maxmemory-policy noeviction/)
  })
})
