import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { freePorts } from '../../test/support/free-ports.ts'
import { feedManifest } from '../../test/support/samples/feed-manifest.ts'
import { Unavailable } from '../core/failure.ts'
import { type Config, parseConfig } from '../platform/config.ts'
import { silentLog } from '../platform/log/log.ts'
import type { Stoppable } from '../platform/process/drain-and-stop.ts'
import { Fatal } from '../platform/process/exit.ts'
import { systemClock } from '../platform/system-clock.ts'
import { followRegistry } from '../registry/follow.ts'
import { createRegistryWriter } from '../registry/writer.ts'
import { openEmbeddedStores } from '../stores/embedded/open.ts'
import { startCollector } from './collector.ts'
import { issueFirstKey } from './feeds.ts'
import { startIngest } from './ingest.ts'
import { startRest } from './rest.ts'
import type { OpenedStores } from './stores.ts'
import { startStream } from './stream.ts'

const free = { host: '127.0.0.1', port: 0 }
const manifestOf = (spec: object = {}): string => {
  const symbols = { list: [{ raw: 'BTCUSD', type: 'crypto', digits: 2 }] }
  const source = { type: 'Simulator', seed: 1 }
  return JSON.stringify(feedManifest({ resolutions: ['1', '60'], symbols, source, ...spec }))
}

let home = ''
/** Stores that all roles of a test share, like servers. */
let shared: OpenedStores
let isAway = false
/** Reads of the registry that failed. */
let failedReads = 0
const running: Stoppable[] = []

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'fxd-roles-'))
  writeFileSync(join(home, 'feeds.yaml'), manifestOf())
  writeFileSync(join(home, 'token'), 'a-token-of-the-test\n')
  const stores = await openEmbeddedStores({
    folder: join(home, 'stores'),
    clock: systemClock,
    log: silentLog,
  })
  isAway = false
  failedReads = 0
  const { registry } = stores
  shared = {
    stores: {
      ...stores,
      registry: {
        ...registry,
        since: (version) => {
          if (!isAway) return registry.since(version)
          failedReads += 1
          return Promise.reject(new Unavailable('registry'))
        },
      },
      close: () => Promise.resolve(),
    },
    areRemote: true,
    connect: () => Promise.resolve(),
  }
})
afterEach(async () => {
  for (const each of running.splice(0).reverse()) {
    each.skipDrain()
    await each.stop()
  }
  rmSync(home, { recursive: true })
})

const configured = (name: string, more: Partial<Config> = {}): Config => ({
  ...parseConfig({}),
  httpAddr: free,
  grpcAddr: free,
  opsAddr: free,
  dataDir: join(home, name),
  tokenFile: join(home, 'token'),
  ...more,
})
async function kept<T extends Stoppable>(starting: Promise<T>): Promise<T> {
  const started = await starting
  running.push(started)
  return started
}
const overrides = () => ({ log: silentLog, stores: shared })
const ingest = () => kept(startIngest(configured('ingest', { feeds: join(home, 'feeds.yaml') }), overrides()))
const rest = (more: Partial<Config> = {}) => kept(startRest(configured('rest', more), overrides()))
const stream = (more: Partial<Config> = {}) => kept(startStream(configured('stream', more), overrides()))

async function key(): Promise<string> {
  const followed = followRegistry(shared.stores.registry, shared.stores.bus, systemClock, silentLog)
  await followed.refresh()
  const writer = createRegistryWriter(shared.stores.registry, followed, shared.stores.bus)
  const secret = await issueFirstKey(writer, followed.view().feeds(), {
    clock: systemClock,
    log: silentLog,
  })
  followed.close()
  return secret
}

const ask = (port: number, path: string, secret = ''): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = secret === '' ? {} : { 'X-API-Key': secret }
    get({ port, host: '127.0.0.1', path, agent: false, headers }, (response) => {
      void response
        .toArray()
        .then((parts) => resolve({ status: response.statusCode ?? 0, text: parts.join('') }))
    }).on('error', reject)
  })
const refusal = async (starting: Promise<unknown>): Promise<Fatal> => {
  const cause: unknown = await starting.catch((error: unknown) => error)
  expect(cause).toBeInstanceOf(Fatal)
  return cause as Fatal
}

test('bars that a collector sends to one role are answered by the others, each in a separate context', async () => {
  const { grpcPort } = await ingest()
  const secret = await key()
  const [{ httpPort: restPort }, shard] = await Promise.all([rest(), stream()])
  const config = configured('collector', {
    feeds: join(home, 'feeds.yaml'),
    ingest: [
      { host: '127.0.0.1', port: 1 },
      { host: '127.0.0.1', port: grpcPort },
    ],
  })
  await kept(startCollector(config, { log: silentLog }))
  const url = '/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=60&countback=3'
  await expect
    .poll(async () => (await ask(restPort, url, secret)).text, { timeout: 30_000, interval: 200 })
    .toContain('"bar_count":3')
  await expect.poll(async () => (await ask(shard.opsPort, '/readyz')).status, { timeout: 10_000 }).toBe(200)
  const socket = new WebSocket(`ws://127.0.0.1:${shard.httpPort}/v1/stream?api_key=${secret}`)
  const frames: string[] = []
  socket.on('message', (data: Buffer) => frames.push(data.toString()))
  socket.on('open', () =>
    socket.send(JSON.stringify({ action: 'subscribe', symbols: ['BROKERA:ZERO:BTCUSD'], type: 'bar' })),
  )
  await expect
    .poll(() => frames.join(''), { timeout: 10_000 })
    .toContain('"type":"subscribed","symbols":["BROKERA:ZERO:BTCUSD"]')
  socket.terminate()
})

test('until the registry is loaded REST listens, is not ready, and answers 500, never 401', async () => {
  isAway = true
  const opsPort = await freePort()
  const httpPort = await freePort()
  const starting = rest({
    httpAddr: { host: '127.0.0.1', port: httpPort },
    opsAddr: { host: '127.0.0.1', port: opsPort },
  })
  await expect
    .poll(() => ask(opsPort, '/readyz').catch(() => undefined))
    .toMatchObject({ status: 503, text: 'not ready: the registry is not loaded yet\n' })
  expect((await ask(opsPort, '/livez')).status).toBe(200)
  expect((await ask(httpPort, '/v1/status', `fxd_${'0'.repeat(32)}`)).status).toBe(500)
  isAway = false
  await starting
  await expect.poll(async () => (await ask(opsPort, '/readyz')).status, { timeout: 10_000 }).toBe(200)
  failedReads = 0
  isAway = true
  await expect.poll(() => failedReads, { timeout: 20_000 }).toBeGreaterThan(0)
  const ready = async (): Promise<number> => (await ask(opsPort, '/readyz')).status
  // A process that was busy for a moment is not ready for a moment.
  await expect.poll(ready, { message: 'a store that is unavailable after the start' }).toBe(200)
})

test('a process with a shard only answers other paths with NOT_FOUND', async () => {
  await ingest()
  const { httpPort } = await stream()
  expect((await ask(httpPort, '/v1/stream')).status).toBe(426)
  expect((await ask(httpPort, '/v1/status')).status).toBe(404)
})

test('after SIGTERM REST is not ready, and answers until its drain is skipped', async () => {
  await ingest()
  const service = await rest({ drainSeconds: 30 })
  const stopped = service.stop()
  expect(await ask(service.opsPort, '/readyz')).toEqual({ status: 503, text: 'not ready: draining\n' })
  expect((await ask(service.httpPort, '/v1/config')).status).toBe(200)
  service.skipDrain()
  await stopped
  await expect(ask(service.httpPort, '/v1/config')).rejects.toThrow('ECONNREFUSED')
})

test('SIGTERM drains a shard in its time, and skipping the drain closes the remaining sockets with 1012 at once', async () => {
  await ingest()
  const secret = await key()
  const shard = await stream({ drainSeconds: 600 })
  const socket = new WebSocket(`ws://127.0.0.1:${shard.httpPort}/v1/stream?api_key=${secret}`)
  const closed = new Promise((resolve) =>
    socket.on('close', (code, reason) => resolve([code, reason.toString()])),
  )
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  const stopped = shard.stop()
  expect((await ask(shard.opsPort, '/readyz')).text).toBe('not ready: draining\n')
  expect(socket.readyState).toBe(WebSocket.OPEN)
  shard.skipDrain()
  expect(await closed).toEqual([1012, 'draining'])
  await stopped
})

test('a full shard is not ready until a socket leaves', async () => {
  await ingest()
  const secret = await key()
  const shard = await stream({ streamConnectionsMax: 1 })
  const socket = new WebSocket(`ws://127.0.0.1:${shard.httpPort}/v1/stream?api_key=${secret}`)
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  await expect
    .poll(() => ask(shard.opsPort, '/readyz'))
    .toEqual({ status: 503, text: 'not ready: full: it holds 1 sockets\n' })
  socket.terminate()
  await expect.poll(async () => (await ask(shard.opsPort, '/readyz')).status, { timeout: 10_000 }).toBe(200)
})

test('a role in its own process without shared stores ends with an error that names the missing variables', async () => {
  for (const [name, start] of [
    ['rest', startRest],
    ['stream', startStream],
    ['ingest', startIngest],
  ] as const) {
    const { exit, message } = await refusal(start(configured(name), { log: silentLog }))
    expect(exit).toBe('config')
    expect(message).toBe(
      `${name} shares its stores with other processes: set FXD_STORE=questdb and FXD_REDIS=redis://host:port, ` +
        'or start "fxd all", which needs neither.',
    )
  }
  const half = configured('rest', { store: 'questdb' })
  expect((await refusal(startRest(half, { log: silentLog }))).message).toContain('set FXD_REDIS=')
})

test('a collector, an ingest and a shard without a required variable end with an error that names it', async () => {
  const feeds = join(home, 'feeds.yaml')
  const tokenFile = join(home, 'none')
  const collector = (more: Partial<Config>) =>
    refusal(startCollector(configured('collector', more), { log: silentLog }))
  expect((await collector({})).message).toContain('set FXD_FEEDS')
  expect((await collector({ feeds, tokenFile })).message).toContain('set FXD_TOKEN_FILE')
  const onFile = await collector({ feeds, tokenFile: feeds, dataDir: feeds })
  expect(onFile.message).toBe(
    `The data folder ${feeds} (FXD_DATA_DIR) cannot be used: a part of its path is a file, not a folder.`,
  )
  expect((await collector({ feeds, feed: 'BROKERA:ZER' })).message).toContain('did you mean BROKERA:ZERO?')
  writeFileSync(feeds, `${manifestOf()}\n---\n${manifestOf({ account: 'LIVE' })}`)
  expect((await collector({ feeds })).message).toContain('set FXD_FEED to one of them')
  writeFileSync(feeds, manifestOf({ source: { type: 'Push' } }))
  expect((await collector({ feeds })).message).toContain('Push')
  expect((await refusal(startIngest(configured('ingest', { tokenFile }), overrides()))).message).toContain(
    'Set FXD_TOKEN_FILE',
  )
  expect((await refusal(startStream(configured('stream', { tokenFile }), overrides()))).message).toContain(
    'Set FXD_TOKEN_FILE',
  )
})

async function freePort(): Promise<number> {
  return (await freePorts(1))[0] ?? 0
}

test('pods of REST with the same chart keys accept each other’s chart tokens; without any they issue none', async () => {
  await ingest()
  const secret = await key()
  const chartKeys = join(home, 'chart-keys')
  writeFileSync(chartKeys, `${'k'.repeat(32)}\n`)
  const pods = [await rest({ chartKeys }), await rest({ chartKeys }), await rest()] as const
  const tokenOf = (port: number) => ask(port, '/udf/token', secret)
  const { path } = JSON.parse((await tokenOf(pods[0].httpPort)).text) as { path: string }
  expect((await ask(pods[1].httpPort, `${path}/config`)).text).toContain('"supports_time":true')
  expect(await tokenOf(pods[2].httpPort)).toMatchObject({ status: 404 })
  expect((await ask(pods[2].httpPort, `${path}/config`)).text).toContain('The chart token is unknown.')
})

test('chart keys that are all too short stop the start of REST', async () => {
  const chartKeys = join(home, 'chart-keys')
  writeFileSync(chartKeys, 'short\n')
  await expect(rest({ chartKeys })).rejects.toThrow(
    /FXD_CHART_KEYS: each key in .* is shorter than 32 characters/,
  )
})
