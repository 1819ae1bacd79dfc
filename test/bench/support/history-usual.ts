/**
 * The simple handler that history.ts compares with: a plain table, rows as objects, arrays made of them, and
 * fastify's JSON.stringify. It has no keys, limits or counts. It sends its port to the parent process.
 */
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fastify from 'fastify'
import { barAt, barCount } from '../../../services/core/bars/bar.ts'
import { walkMinutes } from './bench-feed.ts'

const [folder = '', symbol = '', minutes = ''] = process.argv.slice(2)

const database = new DatabaseSync(join(folder, 'usual.db'))
database.exec(`CREATE TABLE bars (symbol TEXT, resolution TEXT, time INTEGER, open REAL, high REAL, low REAL,
  close REAL, volume INTEGER, PRIMARY KEY (symbol, resolution, time)) WITHOUT ROWID`)
const insert = database.prepare("INSERT INTO bars VALUES (?, '1', ?, ?, ?, ?, ?, ?)")
const bars = walkMinutes(Number(minutes))
database.exec('BEGIN')
for (let i = 0; i < barCount(bars); i++) {
  const { time, open, high, low, close, volume } = barAt(bars, i)
  insert.run(symbol, time, open, high, low, close, volume)
}
database.exec('COMMIT')

const newest = database.prepare(
  'SELECT * FROM bars WHERE symbol = ? AND resolution = ? AND time <= ? ORDER BY time DESC LIMIT ?',
)

interface Query {
  readonly symbol: string
  readonly resolution: string
  readonly countback: string
}
type Row = Record<'time' | 'open' | 'high' | 'low' | 'close' | 'volume', number>

const server = fastify()
server.get<{ Querystring: Query }>('/v1/history', ({ query }) => {
  const now = Math.floor(Date.now() / 1_000)
  const found = newest.all(query.symbol, query.resolution, now, Number(query.countback)) as unknown as Row[]
  const rows = found.toReversed()
  return {
    s: 'ok',
    t: rows.map((row) => row.time),
    o: rows.map((row) => row.open),
    h: rows.map((row) => row.high),
    l: rows.map((row) => row.low),
    c: rows.map((row) => row.close),
    v: rows.map((row) => row.volume),
    meta: { symbol: query.symbol, resolution: query.resolution, bar_count: rows.length },
  }
})
await server.listen({ host: '127.0.0.1', port: 0 })
process.send?.((server.server.address() as AddressInfo).port)
