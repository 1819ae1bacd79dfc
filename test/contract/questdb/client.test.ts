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
const patient = { timeout: 300_000 }
const soon = { timeout: 100_000, interval: 20 }

/** In front of QuestDB: takes the place of its HTTP side and answers writes with 500 for a while. */
async function inFront() {
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
  // As QuestDB, it leaves idle connections open.
  forward.keepAliveTimeout = 0
  // It is closed and opened again: nobody else may get its port meanwhile.
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
    /** Connections that brought rows. */
    writers: () => [...writers],
    /** Those of them that brought rows of each table. */
    writersOf: (): ReadonlyMap<string, ReadonlySet<Socket>> => writersOf,
    /** Refuses connections, as a server that is not there. */
    refuse: close,
    listen,
  }
}

test(
  'rows outlive the client, which forgets them when it is answered 500 for longer than it tries by itself',
  patient,
  async () => {
    const front = await inFront()
    const { stores, metric } = await openInTest(front.at)
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    front.fail(true)
    const writes = [1, 2, 3].map((minute) =>
      stores.bars.write([batchOf(series, [minuteBar(minute)])], 'live'),
    )
    await expect.poll(() => metric('fxd_questdb_write_failures_total'), soon).toBeGreaterThan(0)
    expect(front.failed()).toBeGreaterThan(1)
    front.fail(false)
    await Promise.all(writes)
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 4))
  },
)

test(
  'a server that answers everything but takes no rows counts as away after ten seconds, until it takes rows again',
  patient,
  async () => {
    const front = await inFront()
    const { stores, metric } = await openInTest(front.at)
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    front.fail(true)
    // It may be told as late, if the machine is too busy for its deadline.
    const write = stores.bars.write([batchOf(series, [minuteBar(1)])], 'live').catch(() => undefined)
    const ping = () =>
      stores.bars.ping().then(
        () => 'fine',
        (cause: unknown) => (cause instanceof Unavailable ? String(cause.cause) : cause),
      )
    expect(await ping()).toBe('fine')
    await expect.poll(ping, soon).toContain('no rows were stored for')
    expect(await metric('fxd_questdb_writes_failing_seconds')).toBeGreaterThan(10)
    front.fail(false)
    await write
    await stores.bars.write([batchOf(series, [minuteBar(2)])], 'live')
    expect(await ping()).toBe('fine')
    expect(await metric('fxd_questdb_writes_failing_seconds')).toBe(0)
  },
)

test(
  'a refused connection, on which the client would wait for ever, delays a write and no longer than the server is away',
  patient,
  async () => {
    const front = await inFront()
    const { stores, metric } = await openInTest(front.at)
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    await front.refuse()
    const write = stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')
    await expect.poll(() => metric('fxd_questdb_write_failures_total'), soon).toBeGreaterThan(1)
    await front.listen()
    await write
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 2))
  },
)

/** Five tables of bars. */
const seriesOfTables = () =>
  (['1', '5', '60', '240', '1D'] as const).map((resolution) => freshSeries(resolution))

test(
  'however many callers and tables, each table is written over one connection: the server holds it open once for each',
  patient,
  async () => {
    const front = await inFront()
    const { stores, prefix } = await openInTest(front.at)
    const all = seriesOfTables()
    const writes = all.flatMap((series) =>
      minuteBars(0, 20).map((bar) => stores.bars.write([batchOf(series, [bar])], 'live')),
    )
    await Promise.all(writes)
    for (const series of all) expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 20))
    const ofTables = [...front.writersOf()].filter(([table]) => table.startsWith(`${prefix}bars_`))
    expect(ofTables.length).toBeGreaterThanOrEqual(all.length)
    for (const [table, { size }] of ofTables) expect(size, table).toBe(1)
    expect(front.writers().length).toBeGreaterThan(1)
    expect(front.writers().length).toBeLessThanOrEqual(4)
  },
)

test('a closed store leaves no connection for rows behind', patient, async () => {
  const front = await inFront()
  const { stores } = await openInTest(front.at)
  await Promise.all(
    seriesOfTables().map((series) => stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')),
  )
  const isOpen = () => front.writers().some((socket) => !socket.destroyed)
  expect(isOpen()).toBe(true)
  await stores.close()
  // Sooner than the client would close them as idle.
  await expect.poll(isOpen, { ...soon, timeout: 30_000 }).toBe(false)
})

test(
  'once a table is removed and made again, no connection that knew the old one brings another row',
  patient,
  async () => {
    const front = await inFront()
    const { stores, prefix } = await openInTest(front.at)
    const { stores: other } = await openInTest(server(), { prefix })
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    const table = `${prefix}bars_brokera_zero_h1`
    const writersNow = () => [...(front.writersOf().get(table) ?? [])]
    const before = writersNow()
    expect(before).toHaveLength(1)
    await server().exec(`DROP TABLE ${table}`)
    const stored = (bars: typeof stores.bars, minute: number) => () =>
      bars.write([batchOf(series, [minuteBar(minute)])], 'live').then(
        () => 'stored',
        () => 'failed',
      )
    await expect.poll(stored(other.bars, 1), soon).toBe('stored')
    await expect.poll(stored(stores.bars, 2), soon).toBe('stored')
    expect(writersNow().length).toBeGreaterThan(1)
    for (const socket of before) await expect.poll(() => socket.destroyed, soon).toBe(true)
    expect(await readList(stores.bars, series)).toEqual(minuteBars(1, 3))
  },
)
