import { expect, test } from 'vitest'
import { TableNames } from '../layout/tables.ts'
import type { PgPool } from '../pg/pool.ts'
import { readTableStates } from './table-states.ts'

type Field = string | number | boolean | null

/** As the server sends it: each field after its length, -1 for NULL. */
function row(fields: readonly Field[]): Buffer {
  const pieces = fields.flatMap((field) => {
    if (field === null) return [Buffer.from('ffffffff', 'hex')]
    const body =
      typeof field === 'string' ? Buffer.from(field) : Buffer.alloc(typeof field === 'boolean' ? 1 : 8)
    if (typeof field === 'number') body.writeBigInt64BE(BigInt(field))
    if (typeof field === 'boolean') body[0] = Number(field)
    const length = Buffer.alloc(4)
    length.writeInt32BE(body.length)
    return [length, body]
  })
  return Buffer.concat(pieces)
}

/** The state of a real server cannot be set, so its answers are simulated. */
function serverThat(remembers: readonly Field[][], counts: readonly Field[][]) {
  const asked: string[] = []
  const read: PgPool['read'] = async ({ sql }, begin) => {
    asked.push(sql)
    const take = begin()
    for (const fields of sql.includes('wal_tables') ? counts : remembers) {
      const bytes = row(fields)
      take(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length, 0)
    }
  }
  return { asked, pool: { read } as PgPool }
}

const names = new TableNames('fxd_')
const table = 'fxd_registry'

test.each([
  ['neither was written nor applied', null, null],
  ['was written, and never applied', null, 2],
])('the files are read for a table of which the server reports that it %s', async (_, applied, written) => {
  const { pool } = serverThat([[table, 7, applied, written, false]], [[table, 2, 2]])
  const states = await readTableStates({ pool, names }, { wanted: new Set([table]), changed: new Set() })
  expect(states.get(table)).toEqual({ id: 7, applied: 2, committed: 2, suspended: false })
})

test('the counts of the server are used when both are known, and the files are not read', async () => {
  const { pool, asked } = serverThat([[table, 7, 1, 2, true]], [[table, 2, 2]])
  const states = await readTableStates({ pool, names }, { wanted: new Set([table]), changed: new Set() })
  expect(states.get(table)).toEqual({ id: 7, applied: 1, committed: 2, suspended: true })
  expect(asked).toHaveLength(1)
})

test('the files are read for a table that a TRUNCATE changed, because the server counts commits of rows only', async () => {
  const { pool } = serverThat([[table, 7, 1, 1, false]], [[table, 1, 2]])
  const states = await readTableStates(
    { pool, names },
    { wanted: new Set([table]), changed: new Set([table]) },
  )
  expect(states.get(table)).toEqual({ id: 7, applied: 1, committed: 2, suspended: false })
})
