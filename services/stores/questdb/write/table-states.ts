import type { TableNames } from '../layout/tables.ts'
import { Fields } from '../pg/fields.ts'
import type { PgPool } from '../pg/pool.ts'

export interface TableState {
  /** Changes when the table was removed and created again. */
  readonly id: number
  /** Transactions that readers see. */
  readonly applied: number
  readonly committed: number
  readonly suspended: boolean
}

/**
 * From the server's memory: cheap. A count is NULL where the server has seen no write since its start. Rarely it has
 * seen a commit and never sees that it was applied. It does not count the commit of a TRUNCATE.
 */
const remembered = {
  sql: 'SELECT table_name, id, table_txn, wal_txn, table_suspended FROM tables()',
  parameterSets: [[]],
}
/** From the files of each table: ten times as slow. */
const counted = { sql: 'SELECT name, writerTxn, sequencerTxn FROM wal_tables()', parameterSets: [[]] }

export interface StateDeps {
  readonly names: TableNames
  readonly pool: PgPool
}

interface QueriedTables {
  /** The counts of these tables are never NaN; those of others may be. */
  readonly wanted: ReadonlySet<string>
  /** A statement changed these tables: only the files count its transaction. */
  readonly changed: ReadonlySet<string>
}

/** The states of all our tables, by name. Rejects with `Unavailable`. */
export async function readTableStates(
  { pool, names }: StateDeps,
  { wanted, changed }: QueriedTables,
): Promise<ReadonlyMap<string, TableState>> {
  const states = new Map<string, TableState>()
  await pool.read(remembered, () => {
    states.clear()
    return (view, start) => {
      const fields = new Fields(view, start)
      const table = fields.text() ?? ''
      if (!names.isOurs(table)) return
      const [id, applied, committed] = [fields.long(), fields.long(), fields.long()]
      states.set(table, { id, applied, committed, suspended: fields.boolean() })
    }
  })
  const isUnknown = (table: string): boolean => {
    const state = states.get(table)
    return state !== undefined && (changed.has(table) || Number.isNaN(state.applied + state.committed))
  }
  if (![...wanted].some(isUnknown)) return states
  await pool.read(counted, () => (view, start) => {
    const fields = new Fields(view, start)
    const table = fields.text() ?? ''
    const state = states.get(table)
    if (state && isUnknown(table))
      states.set(table, { ...state, applied: fields.long(), committed: fields.long() })
  })
  return states
}
