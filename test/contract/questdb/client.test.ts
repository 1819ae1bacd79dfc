import { once } from 'node:events'
import http from 'node:http'
import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Unavailable } from '../../../services/core/failure.ts'
import { freePorts } from '../../support/free-ports.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { batchOf, freshSeries, minuteBar, minuteBars, readList } from '../suites/sample-bars.ts'

const server = oneServer()
const longTimeout = { timeout: 300_000 }
const longPoll = { timeout: 100_000, interval: 20 }

/** An HTTP proxy before QuestDB that can answer writes with 500 and refuse connections. */
async function openProxy() {
  let failing = false
  let failed = 0
  const writers = new Set<Socket>()
  const writersOf = new Map<string, Set<Socket>>()
  const noteTables = (socket: Socket, rows: string): void => {
    for (const [, table = ''] of rows.matchAll(/^(\w+)[, ]/gm))
      writersOf.set(table, (writersOf.get(table) ?? new Set()).add(socket))
  }
  const forward = http.createServer((request, response) => {
    const isWrite = request.url?.startsWith('/write') === true
    if (isWrite && failing) {
      failed += 1
      request.resume()
      response.writeHead(500).end('{"message":"on purpose"}')
      return
    }
    if (isWrite) {
      const { socket } = request
      writers.add(socket)
      const body: Buffer[] = []
      request.on('data', (part: Buffer) => body.push(part))
      request.on('end', () => noteTables(socket, Buffer.concat(body).toString('latin1')))
    }
    const { url: path, method, headers } = request
    const onward = http.request({ ...server().http, path, method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  // Like QuestDB it keeps idle connections open.
  forward.keepAliveTimeout = 0
  // The proxy is closed and opened again; no other process may get its port meanwhile.
  const [port = 0] = await freePorts(1)
  const listen = async (): Promise<void> => {
    forward.listen(port, '127.0.0.1')
    await once(forward, 'listening')
  }
  const close = async (): Promise<void> => {
    if (!forward.listening) return
    const closed = once(forward, 'close')
    forward.close()
    forward.closeAllConnections()
    await closed
  }
  await listen()
  onTestFinished(close)
  return {
    at: { http: { host: '127.0.0.1', port }, pg: server().pg },
    fail: (is: boolean) => {
      failing = is
    },
    failed: () => failed,
    /** Connections over which rows were sent. */
    writers: () => [...writers],
    /** By table: the connections over which its rows were sent. */
    writersOf: (): ReadonlyMap<string, ReadonlySet<Socket>> => writersOf,
    /** Refuses connections, like a stopped server. */
    refuse: close,
    listen,
  }
}

/** Stores behind a proxy, and a series with one bar. */
async function openWithOneBar() {
  const proxy = await openProxy()
  const { stores, metric } = await openInTest(proxy.at)
  const series = freshSeries('60')
  await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
  return { proxy, stores, metric, series }
}

test(
  'rows are retried until stored, although the QuestDB client drops them after its own retries on 500',
  longTimeout,
  async () => {
    const { proxy, stores, metric, series } = await openWithOneBar()
    proxy.fail(true)
    const writes = [1, 2, 3].map((minute) =>
      stores.bars.write([batchOf(series, [minuteBar(minute)])], 'live'),
    )
    await expect.poll(() => metric('fxd_questdb_write_failures_total'), longPoll).toBeGreaterThan(0)
    expect(proxy.failed()).toBeGreaterThan(1)
    proxy.fail(false)
    await Promise.all(writes)
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 4))
  },
)

test(
  'a server that accepts no rows counts as unavailable after ten seconds, until it accepts rows again',
  longTimeout,
  async () => {
    const { proxy, stores, metric, series } = await openWithOneBar()
    proxy.fail(true)
    // This write may fail at its deadline on a busy machine.
    const write = stores.bars.write([batchOf(series, [minuteBar(1)])], 'live').catch(() => undefined)
    const ping = () =>
      stores.bars.ping().then(
        () => 'fine',
        (cause: unknown) => (cause instanceof Unavailable ? String(cause.cause) : cause),
      )
    expect(await ping()).toBe('fine')
    await expect.poll(ping, longPoll).toContain('no rows were stored for')
    expect(await metric('fxd_questdb_writes_failing_seconds')).toBeGreaterThan(10)
    proxy.fail(false)
    await write
    await stores.bars.write([batchOf(series, [minuteBar(2)])], 'live')
    expect(await ping()).toBe('fine')
    expect(await metric('fxd_questdb_writes_failing_seconds')).toBe(0)
  },
)

test(
  'a write succeeds once refused connections are accepted again, although the client alone would wait for ever',
  longTimeout,
  async () => {
    const { proxy, stores, metric, series } = await openWithOneBar()
    await proxy.refuse()
    const write = stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')
    await expect.poll(() => metric('fxd_questdb_write_failures_total'), longPoll).toBeGreaterThan(1)
    await proxy.listen()
    await write
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 2))
  },
)

/** Five series in five tables. */
const seriesOfTables = () =>
  (['1', '5', '60', '240', '1D'] as const).map((resolution) => freshSeries(resolution))

test(
  'each table is written over one connection, with any number of callers, because the server opens it once per connection',
  longTimeout,
  async () => {
    const proxy = await openProxy()
    const { stores, prefix } = await openInTest(proxy.at)
    const all = seriesOfTables()
    const writes = all.flatMap((series) =>
      minuteBars(0, 20).map((bar) => stores.bars.write([batchOf(series, [bar])], 'live')),
    )
    await Promise.all(writes)
    for (const series of all) expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 20))
    const ofTables = [...proxy.writersOf()].filter(([table]) => table.startsWith(`${prefix}bars_`))
    expect(ofTables.length).toBeGreaterThanOrEqual(all.length)
    for (const [table, { size }] of ofTables) expect(size, table).toBe(1)
    expect(proxy.writers().length).toBeGreaterThan(1)
    expect(proxy.writers().length).toBeLessThanOrEqual(4)
  },
)

test('a closed store has closed all connections for rows', longTimeout, async () => {
  const proxy = await openProxy()
  const { stores } = await openInTest(proxy.at)
  await Promise.all(
    seriesOfTables().map((series) => stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')),
  )
  const isOpen = () => proxy.writers().some((socket) => !socket.destroyed)
  expect(isOpen()).toBe(true)
  await stores.close()
  // Sooner than the idle timeout of the client.
  await expect.poll(isOpen, { ...longPoll, timeout: 30_000 }).toBe(false)
})

test(
  'after a table was dropped and made again, its rows are sent over new connections only',
  longTimeout,
  async () => {
    const proxy = await openProxy()
    const { stores, prefix } = await openInTest(proxy.at)
    const { stores: other } = await openInTest(server(), { prefix })
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    const table = `${prefix}bars_brokera_zero_h1`
    const writersNow = () => [...(proxy.writersOf().get(table) ?? [])]
    const before = writersNow()
    expect(before).toHaveLength(1)
    await server().exec(`DROP TABLE ${table}`)
    await other.tables.refill(table)
    const stored = (bars: typeof stores.bars, minute: number) => () =>
      bars.write([batchOf(series, [minuteBar(minute)])], 'live').then(
        () => 'stored',
        () => 'failed',
      )
    await expect.poll(stored(other.bars, 1), longPoll).toBe('stored')
    await expect.poll(stored(stores.bars, 2), longPoll).toBe('stored')
    expect(writersNow().length).toBeGreaterThan(1)
    for (const socket of before) await expect.poll(() => socket.destroyed, longPoll).toBe(true)
    expect(await readList(stores.bars, series)).toEqual(minuteBars(1, 3))
  },
)
