import { readdirSync, readFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { createTransport, SenderOptions } from '@questdb/nodejs-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { CompoundKey } from '../../../services/core/feeds/compound-key.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { RowEncoder } from '../../../services/stores/questdb/write/rows.ts'
import { senderOptions } from '../../../services/stores/questdb/write/sender.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { batchOf, freshSeries, minuteBar, minuteBars, readList, seriesOf } from '../suites/sample-bars.ts'

const server = oneServer()

/** The sources of our QuestDB adapter, which contain all its statements. */
const ourSources = (): string => {
  const folder = join(import.meta.dirname, '../../../services/stores/questdb')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  expect(sources.length).toBeGreaterThan(20)
  return sources.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
}

describe('where QuestDB 9.3.4 differs from its documentation', () => {
  test('count() over a filtered grouping is wrong, so no statement of ours uses it; a sum or the rows are right', async () => {
    await server().exec(
      'CREATE TABLE grouped (ts TIMESTAMP, sym SYMBOL) TIMESTAMP(ts) PARTITION BY DAY BYPASS WAL',
    )
    await server().exec(
      "INSERT INTO grouped SELECT ((x / 23) * 1000000L)::timestamp, 'S' || (x % 23) FROM long_sequence(2300)",
    )
    const grouped = 'SELECT ts, count() n FROM grouped GROUP BY ts'
    const odd = await server().exec(`SELECT ts, n FROM (${grouped}) WHERE n <> 23`)
    const summed = await server().exec(`SELECT sum(CASE WHEN n <> 23 THEN 1 ELSE 0 END) FROM (${grouped})`)
    const counted = await server().exec(`SELECT count() FROM (${grouped}) WHERE n <> 23`)
    expect(odd.map(([, n]) => Number(n)).sort((a, b) => a - b)).toEqual([1, 22])
    expect(summed).toEqual([[2]])
    expect(counted).not.toEqual([[2]])
    expect(ourSources()).not.toMatch(/count\(\)[^`'"]*FROM \(/i)
  })

  test('round() returns other numbers, so no statement of ours rounds, and prices are read to the last bit', async () => {
    const [[rounded] = []] = await server().exec('SELECT round(1.23366, 5)')
    expect(rounded).not.toBe(1.23366)
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    const list = minuteBars(0, 5_000).map((bar, i) => {
      const price = Number((1 + i * 0.000_37).toFixed(5))
      return { ...bar, open: price, high: price, low: price, close: price }
    })
    await stores.bars.write([batchOf(series, list)], 'backfill')
    expect(await readList(stores.bars, series)).toEqual(list)
    expect(ourSources()).not.toMatch(/(?<!Math\.)\bround\(/)
  })

  test('a negative LIMIT scans all rows, so no statement of ours uses it', () => {
    expect(ourSources()).not.toMatch(/\bLIMIT\s*-/i)
  })

  test('a third concurrent Parquet export is refused in plain text, so we do not export; reads succeed meanwhile', async () => {
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, minuteBars(0, 3))], 'live')
    const slow = encodeURIComponent('SELECT x, rnd_str(20, 20, 0) y FROM long_sequence(3000000)')
    const exported = async (): Promise<http.IncomingMessage> => {
      const path = `/exp?fmt=parquet&query=${slow}`
      const answer = await new Promise<http.IncomingMessage>((resolve, reject) =>
        http.get({ ...server().http, agent: false, path }, resolve).on('error', reject),
      )
      onTestFinished(() => void answer.destroy())
      return answer
    }
    // The answers are not read, so that both exports stay open.
    expect([(await exported()).statusCode, (await exported()).statusCode]).toEqual([200, 200])
    const third = await exported()
    expect(third.headers['content-type']).toContain('text/plain')
    expect(Buffer.concat((await third.toArray()) as Buffer[]).toString()).toContain(
      'exceeded connection limit',
    )
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 3))
    expect(ourSources()).not.toMatch(/\/exp\b/)
  })
})

describe('names of symbols', () => {
  test('of 300 characters are stored', async () => {
    const { stores } = await openInTest(server())
    const long = seriesOf('é'.repeat(300), '60')
    await stores.bars.write([batchOf(long, [minuteBar(0)])], 'live')
    expect(await readList(stores.bars, long)).toEqual([minuteBar(0)])
  })

  test('that are empty, which the server would accept, or contain NUL, which it would not, are refused', async () => {
    const { stores } = await openInTest(server())
    for (const symbol of ['', 'BROKERA:ZERO', 'BROKERA:ZERO:', 'BROKERA:ZERO:A\0B'] as CompoundKey[]) {
      const write = stores.bars.write([batchOf({ ...freshSeries('60'), symbol }, [minuteBar(0)])], 'live')
      await expect(write).rejects.toThrow(`have the symbol "${symbol}"; it must be BROKER:ACCOUNT:NAME`)
    }
  })

  test('and times are in every row, because the server would give a row without a time the present time', async () => {
    const { host, port } = server().http
    await server().exec(
      'CREATE TABLE bare (ts TIMESTAMP, sym SYMBOL, v LONG) TIMESTAMP(ts) PARTITION BY DAY WAL',
    )
    const send = (body: Buffer | string) =>
      fetch(`http://${host}:${port}/write?precision=u`, { method: 'POST', body: body.toString() })
    expect((await send('bare v=1i\n')).status).toBe(204)
    const encoder = new RowEncoder(await optionsOf({ host, port }))
    encoder.add('bare', (row) => row.symbol('sym', 'A').intColumn('v', 2).at(5, 'us'))
    for (const { bytes } of encoder.pieces()) expect((await send(bytes)).status).toBe(204)
    await server().exec("SELECT wait_wal_table('bare')")
    const rows = await server().exec('SELECT v, sym, ts < 1000000 isGiven FROM bare ORDER BY v')
    expect(rows).toEqual([
      [1, null, false],
      [2, 'A', true],
    ])
  })
})

const optionsOf = (at: { host: string; port: number }) =>
  senderOptions({
    http: at,
    pg: at,
    credentials: { user: 'admin;addr=elsewhere:1', password: 'x;retry_timeout=0' },
    prefix: 'x_',
    clock: systemClock,
    log: silentLog,
    metrics: createMetrics({ ofProcess: false }),
  })

describe('the settings of the client', () => {
  test('without time for retries the client fails at once and sends nothing, so our settings allow such time', async () => {
    const { host, port } = server().http
    await server().exec('CREATE TABLE impatient (ts TIMESTAMP, v LONG) TIMESTAMP(ts) PARTITION BY DAY WAL')
    const none = await SenderOptions.fromConfig(
      `http::addr=${host}:${port};auto_flush=off;protocol_version=2;retry_timeout=0`,
    )
    const send = createTransport(none).send(Buffer.from('impatient v=1i 5t\n'))
    await expect(send).rejects.toThrow('HTTP request timeout')
    expect(await server().exec('SELECT count() FROM impatient')).toEqual([[0]])
    const ours = await optionsOf(server().http)
    expect(ours.retry_timeout).toBeGreaterThan(1_000)
    expect(ours.request_timeout).toBeGreaterThan(1_000)
  })

  test('of two addresses the client silently uses the last, so our settings contain one, for any configured user and password', async () => {
    const two = await SenderOptions.fromConfig('http::addr=a:1;addr=b:2;protocol_version=2')
    expect([two.host, two.port]).toEqual(['b', 2])
    const ours = await optionsOf({ host: '127.0.0.1', port: 9_001 })
    expect([ours.host, ours.port]).toEqual(['127.0.0.1', 9_001])
    const six = await optionsOf({ host: '::1', port: 9_001 })
    expect([six.host, six.port]).toEqual(['[::1]', 9_001])
  })
})
