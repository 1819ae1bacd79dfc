import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../../acceptance/client/until.ts'
import { metricOf } from '../../support/clients/metric-of.ts'
import { newKey } from '../../support/clients/new-key.ts'
import { type Cluster, startCluster } from '../../support/cluster/cluster.ts'
import { untilUpgraded } from '../../support/cluster/until-upgraded.ts'
import { oneSymbolFeed, pushed } from '../../support/samples/one-symbol-feed.ts'

const startTimeoutMs = 240_000
const drainSeconds = 9

let cluster: Cluster
let key = ''
const home = mkdtempSync(join(tmpdir(), 'fxd-rolling-'))
beforeAll(async () => {
  const feeds = join(home, 'feeds.yaml')
  writeFileSync(feeds, oneSymbolFeed(pushed))
  cluster = await startCluster({
    rest: 2,
    stream: 2,
    ingest: 1,
    feeds,
    home,
    env: { FXD_DRAIN_SECONDS: String(drainSeconds) },
  })
  const plan = '--plan enterprise --rpm 1000000 --rpd 1000000 --ws-connections 12 --ws-symbols 10'
  key = await newKey(cluster.commandEnv, `${plan} --feeds BROKERA:ZERO`)
  await until('the key to be known', async () => (await get('/v1/status')) === 200)
  await untilUpgraded(cluster.httpPort, key)
}, startTimeoutMs)
afterAll(async () => {
  const failed = await cluster?.stop()
  if (failed?.length) throw new Error(failed.join('\n'))
  rmSync(home, { recursive: true, force: true })
})

/** Status of a request through the load balancer; 0 without an answer. */
const get = (path: string): Promise<number> =>
  new Promise((resolve) => {
    const options = { host: '127.0.0.1', port: cluster.httpPort, path, agent: false }
    http
      .get({ ...options, headers: { 'X-API-Key': key } }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      .on('error', () => resolve(0))
  })

/** Sends one request after the other; the returned function stops that and returns how often each status came. */
function keepRequesting(): () => Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  let isOver = false
  const ended = (async () => {
    while (!isOver) {
      const status = await get('/v1/status')
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })()
  return async () => {
    isOver = true
    await ended
    return statuses
  }
}

/** A correct client: it reconnects after a close, and records close codes and refused upgrades. */
class Client {
  readonly closes: number[] = []
  readonly refusals: string[] = []
  #socket: WebSocket | undefined
  #isOver = false

  async open(): Promise<void> {
    while (!this.#isOver) {
      const socket = new WebSocket(`ws://127.0.0.1:${cluster.httpPort}/v1/stream?api_key=${key}`)
      const opened = new Promise<boolean>((resolve) => {
        socket.once('open', () => resolve(true))
        socket.once('error', (cause) => {
          this.refusals.push(cause.message)
          resolve(false)
        })
      })
      if (!(await opened)) continue
      this.#socket = socket
      socket.once('close', (code) => {
        if (this.#isOver) return
        this.closes.push(code)
        void this.open()
      })
      return
    }
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  end(): void {
    this.#isOver = true
    this.#socket?.terminate()
  }
}

const socketsOf = (name: string): Promise<number> =>
  metricOf(cluster.pod(name).opsPort, 'fxd_stream_connections')

test('REST processes are replaced one by one without a failed request', async () => {
  const end = keepRequesting()
  for (const name of ['rest-1', 'rest-2']) {
    const { program } = cluster.pod(name)
    expect(await program.stop('SIGTERM')).toBe(0)
    await program.start()
    // The load balancer checks health twice a second.
    const log = (): string => readFileSync(cluster.balancer.log, 'utf8')
    await expect
      .poll(() => log().lastIndexOf(`rest/${name} is UP`), { timeout: 10_000 })
      .toBeGreaterThan(log().lastIndexOf(`rest/${name} is DOWN`))
  }
  const statuses = await end()
  expect([...statuses.keys()]).toEqual([200])
  expect(statuses.get(200)).toBeGreaterThan(20)
})

test('shards are replaced: sockets are closed with 1012, and all clients of a key at its cap reconnect without a refusal', async () => {
  const clients = Array.from({ length: 12 }, () => new Client())
  for (const client of clients) await client.open()
  expect([await socketsOf('stream-1'), await socketsOf('stream-2')]).toEqual([6, 6])
  for (const [name, other] of [
    ['stream-1', 'stream-2'],
    ['stream-2', 'stream-1'],
  ] as const) {
    const { program } = cluster.pod(name)
    // No socket is closed around the end of a minute, which may delay closes to the end of the drain.
    expect(await program.stop('SIGTERM', 60_000)).toBe(0)
    await expect.poll(() => clients.every(({ isOpen }) => isOpen)).toBe(true)
    await expect.poll(() => socketsOf(other)).toBe(12)
    await program.start()
    const log = (): string => readFileSync(cluster.balancer.log, 'utf8')
    await expect
      .poll(() => log().lastIndexOf(`stream/${name} is UP`), { timeout: 10_000 })
      .toBeGreaterThan(log().lastIndexOf(`stream/${name} is DOWN`))
  }
  for (const client of clients) client.end()
  const closes = clients.flatMap((client) => client.closes)
  expect(new Set(closes)).toEqual(new Set([1012]))
  expect(closes).toHaveLength(18)
  expect(clients.flatMap(({ refusals }) => refusals)).toEqual([])
})

test('while no process is ready, a request that a frozen one does not answer is sent to another', async () => {
  const frozen = ['rest-1', 'rest-2'].map((name) => cluster.pod(name))
  for (const { program } of frozen) await program.freeze()
  const log = (): string => readFileSync(cluster.balancer.log, 'utf8')
  for (const { name } of frozen) {
    await expect
      .poll(() => log().lastIndexOf(`rest/${name} is DOWN`), { timeout: 10_000 })
      .toBeGreaterThan(log().lastIndexOf(`rest/${name} is UP`))
  }
  const answers = Promise.all(Array.from({ length: 4 }, () => get('/v1/config')))
  await pause(500)
  cluster.pod('rest-2').program.thaw()
  expect(await answers).toEqual([200, 200, 200, 200])
  cluster.pod('rest-1').program.thaw()
  await expect
    .poll(() => log().lastIndexOf('rest/rest-1 is UP'), { timeout: 15_000 })
    .toBeGreaterThan(log().lastIndexOf('rest/rest-1 is DOWN'))
})

test('the load balancer removes a frozen process and adds it again once it continues', async () => {
  const { program } = cluster.pod('rest-1')
  const log = (): string => readFileSync(cluster.balancer.log, 'utf8')
  await program.freeze()
  await expect
    .poll(() => log().lastIndexOf('rest/rest-1 is DOWN'), { timeout: 10_000 })
    .toBeGreaterThan(log().lastIndexOf('rest/rest-1 is UP'))
  const end = keepRequesting()
  await expect.poll(() => get('/v1/config')).toBe(200)
  program.thaw()
  await expect
    .poll(() => log().lastIndexOf('rest/rest-1 is UP'), { timeout: 15_000 })
    .toBeGreaterThan(log().lastIndexOf('rest/rest-1 is DOWN'))
  expect([...(await end()).keys()]).toEqual([200])
})
