import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { freePorts } from '../../test/support/free-ports.ts'
import { type Config, parseConfig } from '../platform/config.ts'
import { createLog, silentLog } from '../platform/log/log.ts'
import { Fatal } from '../platform/process/exit.ts'
import { type RunningAll, startAll } from './all.ts'
import type { RoleOverrides } from './stores.ts'

const free = { host: '127.0.0.1', port: 0 }
let home = ''
const running: RunningAll[] = []

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'fxd-all-'))
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()))
  rmSync(home, { recursive: true })
})

const configured = (more: Partial<Config> = {}): Config => ({
  ...parseConfig({}),
  httpAddr: free,
  grpcAddr: free,
  opsAddr: free,
  dataDir: join(home, 'data'),
  ...more,
})

async function start(more: Partial<Config> = {}, overrides: RoleOverrides = {}): Promise<RunningAll> {
  const service = await startAll(configured(more), { log: silentLog, ...overrides })
  running.push(service)
  return service
}

const failing = async (more: Partial<Config> = {}): Promise<Fatal> => {
  const cause: unknown = await start(more).catch((error: unknown) => error)
  expect(cause).toBeInstanceOf(Fatal)
  return cause as Fatal
}

interface Answer {
  readonly status: number
  readonly text: string
}
const ask = (port: number, path: string, key = ''): Promise<Answer> =>
  new Promise((resolve, reject) => {
    get(
      { port, host: '127.0.0.1', path, agent: false, headers: key ? { 'X-API-Key': key } : {} },
      (response) => {
        void response
          .toArray()
          .then((parts) => resolve({ status: response.statusCode ?? 0, text: String(parts.join('')) }))
      },
    ).on('error', reject)
  })

function manifest(account: string, more = ''): string {
  return `apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: {name: brokera-${account.toLowerCase()}}
spec:
  broker: BROKERA
  account: ${account}
  clock: {mode: UTC}
  quoteBasis: Bid
  resolutions: ["1"]
  source: {type: Push}
${more}`
}

function feedsFolder(files: Record<string, string>): string {
  const folder = join(home, 'feeds')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

test('the first start serves the demo feeds and returns a key, which the second start accepts', async () => {
  const first = await start()
  expect(first.firstKey).toMatch(/^fxd_[0-9a-f]{32}$/)
  const { firstKey = '' } = first
  const status = await ask(first.httpPort, '/v1/status', firstKey)
  expect(Object.keys((JSON.parse(status.text) as { feeds: object }).feeds)).toEqual([
    'BROKERA:PRIME',
    'BROKERA:VIP',
    'BROKERA:ZERO',
    'BROKERB:LIVE',
    'BROKERC:NOTADIL',
    'BROKERC:TADIL',
    'BROKERD:LIVE',
    'BROKERE:LIVE',
    'BROKERF:LIVE',
  ])
  // On a busy machine the process may have paused for a second.
  await expect
    .poll(() => ask(first.opsPort, '/readyz'), { timeout: 10_000 })
    .toEqual({ status: 200, text: 'ready\n' })
  await first.stop()
  const second = await start()
  expect(second.firstKey).toBeUndefined()
  expect((await ask(second.httpPort, '/v1/status', firstKey)).status).toBe(200)
}, 30_000)

test('a chart token opens charts after a restart too: the keys that sign it are made once', async () => {
  const first = await start()
  const issued = await ask(first.httpPort, '/udf/token', first.firstKey)
  const { path } = JSON.parse(issued.text) as { path: string }
  await first.stop()
  const second = await start()
  expect((await ask(second.httpPort, `${path}/config`)).text).toContain('"supports_time":true')
}, 30_000)

test('with FXD_FEEDS no key is made', async () => {
  const { firstKey, httpPort } = await start({ feeds: feedsFolder({ 'a.yaml': manifest('ZERO') }) })
  expect(firstKey).toBeUndefined()
  expect((await ask(httpPort, '/v1/config')).text).toContain('"value":"BROKERA"')
})

test('other users can read nothing in the data folder', async () => {
  await start()
  const data = join(home, 'data')
  expect(statSync(data).mode & 0o077).toBe(0)
  for (const file of readdirSync(data)) expect(statSync(join(data, file)).mode & 0o077, file).toBe(0)
  expect(readdirSync(data)).toContain('token')
})

test.each(['httpAddr', 'grpcAddr', 'opsAddr'] as const)(
  '%s in use is an error that names the variable, and everything is stopped',
  async (name) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const variable = { httpAddr: 'FXD_HTTP_ADDR', grpcAddr: 'FXD_GRPC_ADDR', opsAddr: 'FXD_OPS_ADDR' }[name]
    const failure = await failing({ [name]: { host: '127.0.0.1', port } })
    other.close()
    expect(failure.exit).toBe('system')
    expect(failure.message).toContain(`127.0.0.1:${port} is in use`)
    expect(failure.message).toContain(`set ${variable}`)
    // The data folder is unlocked again, and the next start shows the key.
    expect((await start()).firstKey).toBeDefined()
  },
)

test('a data folder that another service uses is refused with its name and variable', async () => {
  await start()
  const failure = await failing()
  expect(failure.exit).toBe('system')
  expect(failure.message).toContain(join(home, 'data'))
  expect(failure.message).toContain('FXD_DATA_DIR')
})

test('on a data folder in use a start ends before it connects to Redis', async () => {
  await start()
  const callers: (number | undefined)[] = []
  const redis = createServer(({ remotePort }) => void callers.push(remotePort)).listen(0, '127.0.0.1')
  await once(redis, 'listening')
  const { port } = redis.address() as AddressInfo
  expect((await failing({ redis: `redis://127.0.0.1:${port}` })).exit).toBe('system')
  // Earlier callers are accepted before this one.
  const last = connect(port, '127.0.0.1')
  await once(last, 'connect')
  await expect.poll(() => callers).toContain(last.localPort)
  expect(callers).toHaveLength(1)
  last.destroy()
  redis.close()
})

test.each([
  ['is a file', ['file'], 'it is a file, not a folder'],
  ['is inside a file', ['file', 'data'], 'a part of its path is a file, not a folder'],
])('a data folder that %s is refused with its path and variable', async (_name, path, reason) => {
  writeFileSync(join(home, 'file'), '')
  const dataDir = join(home, ...path)
  const failure = await failing({ dataDir })
  expect(failure.exit).toBe('system')
  expect(failure.message).toBe(`The data folder ${dataDir} (FXD_DATA_DIR) cannot be used: ${reason}.`)
})

test('invalid manifests stop the start with file, line and field', async () => {
  const feeds = feedsFolder({ 'a.yaml': manifest('ZERO').replace('Bid', 'Ask') })
  const failure = await failing({ feeds })
  expect(failure.exit).toBe('config')
  expect(failure.message).toMatch(/a\.yaml:8: spec\.quoteBasis: got "Ask"/)
})

test('errors that only the registry finds have file and line too', async () => {
  const first = await start({ feeds: feedsFolder({ 'a.yaml': manifest('ZERO') }) })
  await first.stop()
  const feeds = feedsFolder({ 'a.yaml': manifest('ZERO', '  storage: {buckets: 8}\n') })
  expect((await failing({ feeds })).message).toMatch(/a\.yaml:11: spec\.storage\.buckets: got 8, wanted 4/)
})

test('reloaded manifests take effect; invalid ones are logged and the old ones stay', async () => {
  const lines: string[] = []
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString())
      done()
    },
  })
  const feeds = feedsFolder({ 'a.yaml': manifest('ZERO') })
  const service = await start({ feeds }, { log: createLog('info', sink) })
  const brokers = async (): Promise<string> => (await ask(service.httpPort, '/v1/config')).text
  feedsFolder({
    'a.yaml': manifest('ZERO'),
    'b.yaml': manifest('LIVE').replaceAll('BROKERA', 'BROKERB').replaceAll('brokera', 'brokerb'),
  })
  await service.reload()
  expect(await brokers()).toContain('BROKERB')
  feedsFolder({ 'a.yaml': 'kind: Fed\n' })
  await service.reload()
  expect(await brokers()).toContain('BROKERB')
  expect(lines.join('')).toMatch(/a\.yaml:1: kind: got \\"Fed\\"/)
  feedsFolder({ 'a.yaml': manifest('ZERO') })
  await service.reload()
  expect(await brokers()).not.toContain('BROKERB')
})

test('a stop closes sockets with 1012, frees the ports and ends within seconds', async () => {
  // The system gives these ports to no other socket while the service is stopped.
  const [httpAddr, grpcAddr, opsAddr] = (await freePorts(3)).map((port) => ({ ...free, port }))
  const ports = { httpAddr: httpAddr!, grpcAddr: grpcAddr!, opsAddr: opsAddr! }
  const service = await start(ports)
  const socket = new WebSocket(`ws://127.0.0.1:${service.httpPort}/v1/stream?api_key=${service.firstKey}`)
  await once(socket, 'open')
  const closed = once(socket, 'close') as Promise<[code: number, reason: Buffer]>
  const begun = performance.now()
  await service.stop()
  const [code, reason] = await closed
  expect([code, reason.toString()]).toEqual([1012, 'draining'])
  expect(performance.now() - begun).toBeLessThan(10_000)
  await start(ports)
})

test('the token is made once and never appears in the log', async () => {
  const lines: string[] = []
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString())
      done()
    },
  })
  const service = await start({}, { log: createLog('debug', sink) })
  const token = readFileSync(join(home, 'data', 'token'), 'utf8').trim()
  await ask(service.httpPort, '/v1/status', service.firstKey)
  await service.stop()
  await start({}, { log: createLog('debug', sink) })
  expect(readFileSync(join(home, 'data', 'token'), 'utf8').trim()).toBe(token)
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.join('')).not.toContain(token)
  expect(lines.join('')).not.toContain(service.firstKey)
})

test('each limited buffer has its metric, under a fixed set of names', async () => {
  const { opsPort } = await start({ feeds: feedsFolder({ 'a.yaml': manifest('ZERO') }) })
  const { text } = await ask(opsPort, '/metrics')
  for (const line of [
    'fxd_tail_dropped_bars_total 0',
    'fxd_store_refused_total{kind="read"} 0',
    'fxd_store_refused_total{kind="write"} 0',
    'fxd_history_held_bytes 0',
    'fxd_history_refused_answers_total 0',
  ])
    expect(text).toContain(`${line}\n`)
  expect(text).toMatch(/^fxd_store_waiting\{kind="write"\} \d+$/m)
})
