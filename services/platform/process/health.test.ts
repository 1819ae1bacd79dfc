import { get } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { dial } from '../../../test/support/fixtures/http-server.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { createMetrics } from '../metrics.ts'
import { systemClock } from '../system-clock.ts'
import { type Health, openHealth } from './health.ts'
import { recoveryMs, stallMs } from './loop-watch.ts'

const open: Health[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((health) => health.close()))
})

async function start(clock = systemClock, loaded = { now: true }) {
  const metrics = createMetrics({ ofProcess: true })
  const health = await openHealth(
    { address: { host: '127.0.0.1', port: 0 }, loaded: () => loaded.now, metrics },
    clock,
  )
  open.push(health)
  return { health, metrics, loaded }
}

function request(health: Health, path: string, method = 'GET'): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    get({ port: health.port, host: '127.0.0.1', path, method, agent: false }, (response) => {
      void response
        .toArray()
        .then((parts) => resolve({ status: response.statusCode ?? 0, text: String(parts.join('')) }))
    }).on('error', reject)
  })
}

test('a process is ready from listening with a loaded registry until it drains', async () => {
  const { health, loaded } = await start(createVirtualClock(), { now: false })
  expect(await request(health, '/readyz')).toEqual({ status: 503, text: 'not ready: starting\n' })
  health.listening()
  expect(await request(health, '/readyz')).toMatchObject({ status: 503 })
  loaded.now = true
  expect(await request(health, '/readyz')).toEqual({ status: 200, text: 'ready\n' })
  health.drain()
  expect(await request(health, '/readyz')).toEqual({ status: 503, text: 'not ready: draining\n' })
})

test('/livez succeeds also while the process is not ready', async () => {
  const { health } = await start(systemClock, { now: false })
  expect(await request(health, '/livez')).toEqual({ status: 200, text: 'alive\n' })
  health.drain()
  expect(await request(health, '/livez')).toMatchObject({ status: 200 })
})

test('an event loop that stalls for a second makes the process unready for a moment', async () => {
  const virtual = createVirtualClock()
  let stoodStillMs = 0
  // A long synchronous computation looks like this: time passed, no timer ran.
  const clock = { ...virtual, monotonicMs: () => virtual.monotonicMs() + stoodStillMs }
  const { health } = await start(clock)
  health.listening()
  await virtual.advance(10_000)
  expect(await request(health, '/readyz')).toMatchObject({ status: 200 })
  stoodStillMs += stallMs
  expect(await request(health, '/readyz')).toEqual({
    status: 503,
    text: 'not ready: the event loop was stalled\n',
  })
  await virtual.advance(recoveryMs - 100)
  expect(await request(health, '/readyz')).toMatchObject({ status: 503 })
  await virtual.advance(200)
  expect(await request(health, '/readyz')).toMatchObject({ status: 200 })
})

test('/metrics has metrics of the process and of the role, all with the fxd_ prefix', async () => {
  const { health, metrics } = await start()
  metrics.counter('fxd_bars_total', 'Bars stored.', ['lane']).inc({ lane: 'live' }, 3)
  metrics.gauge('fxd_sockets', 'Open sockets.', [], (gauge) => gauge.set(7))
  metrics.histogram('fxd_push_seconds', 'Push latency.', [0.1, 0.2]).observe(0.15)
  const { status, text } = await request(health, '/metrics')
  expect(status).toBe(200)
  expect(text).toContain('fxd_bars_total{lane="live"} 3')
  expect(text).toContain('fxd_sockets 7')
  expect(text).toContain('fxd_push_seconds_bucket{le="0.1"} 0')
  expect(text).toContain('fxd_process_resident_memory_bytes')
  const names = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((line) => !line.startsWith('fxd_'))).toEqual([])
})

test('a connection with 2,000 pipelined requests for metrics is closed and counted', async () => {
  const { health } = await start()
  const socket = await dial(health.port)
  socket.on('error', () => undefined).resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000))
  await closed
  const { text } = await request(health, '/metrics')
  expect(text).toContain('fxd_ops_cut_connections_total{reason="pipelined"} 1\n')
})

test('a counter can be summed over some of its labels', async () => {
  const metrics = createMetrics({ ofProcess: false })
  const bars = metrics.counter('fxd_bars_total', 'Bars stored.', ['lane', 'outcome'])
  bars.inc({ lane: 'live', outcome: 'accepted' }, 1)
  bars.inc({ lane: 'backfill', outcome: 'accepted' }, 10)
  bars.inc({ lane: 'backfill', outcome: 'revised' }, 100)
  expect(await metrics.total('fxd_bars_total', { lane: 'backfill' })).toBe(110)
  expect(await metrics.total('fxd_bars_total', {})).toBe(111)
  expect(await metrics.total('fxd_other_total', {})).toBe(0)
})

test('creating a metric without the fxd_ prefix throws', () => {
  expect(() => createMetrics({ ofProcess: false }).counter('bars_total', 'Bars.')).toThrow(/fxd_/)
})

test('other paths and methods are rejected', async () => {
  const { health } = await start()
  expect(await request(health, '/')).toMatchObject({ status: 404 })
  expect(await request(health, '/readyz', 'POST')).toMatchObject({ status: 405 })
  expect(await request(health, '/livez?verbose')).toMatchObject({ status: 200 })
  expect(await request(health, '/livez', 'HEAD')).toEqual({ status: 200, text: '' })
})
