import { Unavailable, Unfinished } from '../../core/failure.ts'
import { within } from '../../platform/within.ts'
import type { Administration } from './exec.ts'
import type { MakingDeps } from './layout/make-table.ts'
import type { TableRecords } from './layout/table-records.ts'
import type { Visibility } from './write/visibility.ts'

/** Maximum table names in an error; it counts the others. */
const namesMax = 5

export interface EmptyingDeps extends MakingDeps {
  readonly records: TableRecords
  readonly visibility: Pick<Visibility, 'waitForStatements'>
}

/** Empties all tables of one kind of a feed. Afterwards each is right as it is, also one that is missing. */
export async function purgeTables(
  what: string,
  tables: readonly string[],
  deadlineMs: number,
  deps: EmptyingDeps,
): Promise<void> {
  const states = await deps.records.states()
  const present = tables.filter((table) => states.get(table) !== 'missing')
  await emptyTables(what, present, deadlineMs, deps)
  const doubtful = tables.filter((table) => (states.get(table) ?? 'in order') !== 'in order')
  await deps.records.accept(doubtful, deps)
}

/**
 * Empties tables and resolves once readers see that. Tables are not dropped: the server would acknowledge rows of
 * another writer into a dropped table. Rejects with `Unfinished` within the deadline. Another call skips tables that
 * are empty already.
 */
export async function emptyTables(
  what: string,
  tables: readonly string[],
  deadlineMs: number,
  deps: Pick<EmptyingDeps, 'admin' | 'visibility' | 'clock'>,
): Promise<void> {
  const { admin, visibility, clock } = deps
  const end = clock.monotonicMs() + deadlineMs
  const leftMs = (): number => {
    const left = end - clock.monotonicMs()
    if (left > 0) return left
    throw new Error(`it took longer than ${deadlineMs / 1_000} s`)
  }
  const left = new Set(tables)
  try {
    const settled = await settledTables(admin, leftMs())
    for (const table of tables) {
      if (settled.has(table) && (await isEmpty(table, admin, leftMs()))) left.delete(table)
      else await admin.exec(`TRUNCATE TABLE '${table}'`, leftMs())
    }
    const waits = [...left].map(async (table) => {
      await within(clock, leftMs(), `emptying ${table}`, visibility.waitForStatements([table]))
      left.delete(table)
    })
    // A table that is not readable must not hide that others are empty.
    const failed = (await Promise.allSettled(waits)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  } catch (cause) {
    const names = [...left].slice(0, namesMax).join(', ')
    const more = left.size > namesMax ? ` and ${left.size - namesMax} more` : ''
    throw new Unfinished(
      'store',
      `${what} is only partly purged: ${left.size} of ${tables.length} tables may still hold rows (${names}${more}), because ${reasonOf(cause)}. Run the purge again; it continues with these tables.`,
      cause,
    )
  }
}

/** Tables on which all commits are readable. */
async function settledTables(admin: Administration, deadlineMs: number): Promise<ReadonlySet<string>> {
  const sql = 'SELECT name FROM wal_tables() WHERE NOT suspended AND writerTxn = sequencerTxn'
  return new Set((await admin.exec(sql, deadlineMs)).map(([name]) => String(name)))
}

const isEmpty = async (table: string, admin: Administration, deadlineMs: number): Promise<boolean> =>
  (await admin.exec(`SELECT ts FROM '${table}' LIMIT 1`, deadlineMs)).length === 0

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Unavailable ? (cause.cause ?? cause) : cause
  return inner instanceof Error ? inner.message : String(inner)
}
