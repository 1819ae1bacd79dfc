/**
 * The simple handler that questdb.ts compares with: `pg`, rows as objects, arrays made of them, and fastify's
 * JSON.stringify. It has no keys, limits or counts. It sends its port to the parent process.
 */
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import pg from 'pg'

const [host = '', port = '', table = ''] = process.argv.slice(2)

// Without this parser they are texts.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
const pool = new pg.Pool({
  host,
  port: Number(port),
  user: 'admin',
  password: 'quest',
  database: 'qdb',
  max: 4,
})
const newest =
  `SELECT ts::long / 1000000 AS time, o, h, l, c, v FROM '${table}' ` +
  'WHERE sym = $1 AND ts <= $2::long::timestamp ORDER BY ts DESC LIMIT $3::int'

interface Query {
  readonly symbol: string
  readonly resolution: string
  readonly countback: string
}
type Row = Record<'time' | 'o' | 'h' | 'l' | 'c' | 'v', number>

const server = fastify()
server.get<{ Querystring: Query }>('/v1/history', async ({ query }) => {
  const name = query.symbol.slice(query.symbol.lastIndexOf(':') + 1)
  const parameters = [name, String(Date.now() * 1_000), query.countback]
  const found = await pool.query<Row>({ name: 'newest', text: newest, values: parameters })
  const rows = found.rows.toReversed()
  return {
    s: 'ok',
    t: rows.map((row) => row.time),
    o: rows.map((row) => row.o),
    h: rows.map((row) => row.h),
    l: rows.map((row) => row.l),
    c: rows.map((row) => row.c),
    v: rows.map((row) => row.v),
    meta: { symbol: query.symbol, resolution: query.resolution, bar_count: rows.length },
  }
})
await server.listen({ host: '127.0.0.1', port: 0 })
process.send?.((server.server.address() as AddressInfo).port)
