import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { batchOf, freshSeries, minuteBars, readList } from '../suites/sample-bars.ts'

const server = oneServer()
const host = '127.0.0.1'

/** An HTTP proxy in front of QuestDB that answers the next `writes` writes with `status`. */
async function refusingProxy(status: number, writes: number): Promise<{ port: number; left: () => number }> {
  let left = writes
  const proxy = http.createServer((request, response) => {
    if (request.url?.startsWith('/write') && left > 0) {
      left -= 1
      request.resume().on('end', () => response.writeHead(status).end('answer of the proxy'))
      return
    }
    const { method, url, headers } = request
    const onward = http.request({ ...server().http, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => proxy.listen(0, host, resolve))
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return { port: (proxy.address() as AddressInfo).port, left: () => left }
}

test.each([404, 408, 413, 429])(
  'rows are sent again, and their table is in order, when a proxy before QuestDB answers %i',
  async (status) => {
    const proxy = await refusingProxy(status, 2)
    const { stores, metric } = await openInTest({ ...server(), http: { host, port: proxy.port } })
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, minuteBars(0, 10))], 'live')
    expect(proxy.left()).toBe(0)
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 10))
    expect(await metric('fxd_questdb_tables_out_of_order')).toBe(0)
  },
)
