import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { oneServer } from '../support/questdb/one-server.ts'
import { openInTest } from '../support/questdb/stores.ts'
import { batchOf, freshSeries, minuteBar, minuteBars, readList } from './sample-bars.ts'

const server = oneServer()
const patient = { timeout: 300_000 }
const soon = { timeout: 100_000, interval: 20 }

/** In front of QuestDB: takes the place of its HTTP side and answers writes with 500 for a while. */
async function inFront() {
  let failing = false
  let failed = 0
  const writers = new Set<unknown>()
  const forward = http.createServer((request, response) => {
    const isWrite = request.url?.startsWith('/write') === true
    if (isWrite && failing) {
      failed += 1
      request.resume()
      response.writeHead(500).end('{"message":"on purpose"}')
      return
    }
    if (isWrite) writers.add(request.socket)
    const { url: path, method, headers } = request
    const onward = http.request({ ...server().http, path, method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  const listen = async (port: number): Promise<number> => {
    forward.listen(port, '127.0.0.1')
    await once(forward, 'listening')
    return (forward.address() as AddressInfo).port
  }
  const close = async (): Promise<void> => {
    if (!forward.listening) return
    const closed = once(forward, 'close')
    forward.close()
    forward.closeAllConnections()
    await closed
  }
  const port = await listen(0)
  onTestFinished(close)
  return {
    at: { http: { host: '127.0.0.1', port }, pg: server().pg },
    fail: (is: boolean) => {
      failing = is
    },
    failed: () => failed,
    /** Connections that brought rows. */
    writers: () => writers.size,
    /** Refuses connections, as a server that is not there. */
    refuse: close,
    listen: () => listen(port),
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

test('however many callers and tables, writes take few connections: the server holds every table open once for each', async () => {
  const front = await inFront()
  const { stores } = await openInTest(front.at)
  const all = (['1', '5', '60', '240', '1D'] as const).map((resolution) => freshSeries(resolution))
  const writes = all.flatMap((series) =>
    minuteBars(0, 20).map((bar) => stores.bars.write([batchOf(series, [bar])], 'live')),
  )
  await Promise.all(writes)
  for (const series of all) expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 20))
  expect(front.writers()).toBeGreaterThan(0)
  expect(front.writers()).toBeLessThanOrEqual(8)
})
