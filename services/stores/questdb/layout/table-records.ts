import { TableOutOfOrder } from '../../../core/failure.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { TableState } from '../../../ports/store-tables.ts'
import type { ServerQueries } from '../exec.ts'
import { listTables, type MakingDeps, makeTable } from './make-table.ts'
import { createTables } from './statements.ts'
import type { TableNames } from './tables.ts'
import { untilListed } from './until-listed.ts'

/** A table whose absence is right, because its feed was purged. */
const nothing = -1

interface TableRecord {
  /** QuestDB's number of the table: it stays the same when the table is renamed, and a table that is made again has another one. */
  readonly id: number
  /** When a person accepted the table, UTC milliseconds; 0: never. */
  readonly accepted: number
}

interface TableRecordsDeps {
  readonly names: TableNames
  readonly queries: ServerQueries
  readonly clock: Clock
  readonly log: Log
}

const why: Readonly<Record<Exclude<TableState, 'in order'>, string>> = {
  missing: 'is missing',
  replaced: 'is not the one that fxd wrote: it was made again or copied',
}

/**
 * Which table had each name. A table that is missing, or that has another id, is out of order: whoever reads it gets
 * a failure, because it would answer "no such bars".
 */
export class TableRecords {
  readonly #deps: TableRecordsDeps
  #records: ReadonlyMap<string, TableRecord> = new Map()
  #outOfOrder: ReadonlyMap<string, Exclude<TableState, 'in order'>> = new Map()
  /** Called with tables that are in order again, or that a person has accepted. */
  readonly onRepaired = new Set<(tables: readonly string[]) => void>()

  constructor(deps: TableRecordsDeps) {
    this.#deps = deps
  }

  /** As of the last read. */
  get outOfOrder(): ReadonlyMap<string, Exclude<TableState, 'in order'>> {
    return this.#outOfOrder
  }

  #repaired(tables: readonly string[]): void {
    if (tables.length > 0) for (const listen of this.onRepaired) listen(tables)
  }

  isRecorded(table: string): boolean {
    return this.#records.has(table)
  }

  /** All recorded tables, whether they exist or not. */
  recorded(): readonly string[] {
    return [...this.#records.keys()]
  }

  /** Throws if the table is out of order. */
  refuse(table: string): void {
    const error = this.errorOf(table)
    if (error) throw error
  }

  errorOf(table: string): TableOutOfOrder | undefined {
    const state = this.#outOfOrder.get(table)
    return state && new TableOutOfOrder(table, why[state])
  }

  /** Reads the records, and compares them with the server's tables. */
  async load(): Promise<void> {
    await this.read()
    this.#judge(await this.#presentIds())
  }

  /** Reads the records, as another process may have changed them. */
  async read(): Promise<void> {
    const { names, queries } = this.#deps
    // An older ingest does not make the table. Records that were read once are kept.
    if (!(await listTables(queries)).includes(names.tables)) return
    const rows = await queries.exec(`SELECT name, id, accepted FROM '${names.tables}'`)
    const records = new Map<string, TableRecord>()
    for (const [name, id, accepted] of rows)
      if (Number(id) !== nothing && names.isRecorded(String(name)))
        records.set(String(name), { id: Number(id), accepted: Number(accepted) })
    const before = this.#records
    this.#records = records
    const accepted = [...records].filter(([table, record]) => {
      const known = before.get(table)
      return known !== undefined && record.accepted > known.accepted
    })
    this.#repaired(accepted.map(([table]) => table))
  }

  /** Compares the records with ids that somebody else has read; reads them again when a table seems to be missing. */
  async compare(ids: ReadonlyMap<string, number>): Promise<void> {
    const isNew = (table: string): boolean => !ids.has(table) && !this.#outOfOrder.has(table)
    if (this.recorded().some(isNew)) this.#judge(await this.#presentIds())
    else this.#judge(ids)
  }

  #judge(ids: ReadonlyMap<string, number>): void {
    const found = new Map<string, Exclude<TableState, 'in order'>>()
    for (const [table, { id }] of this.#records) {
      const present = ids.get(table)
      if (present === undefined) found.set(table, 'missing')
      else if (present !== id) found.set(table, 'replaced')
    }
    const { log } = this.#deps
    for (const [table, state] of found)
      if (this.#outOfOrder.get(table) !== state)
        log.error(
          { table, state },
          'table of QuestDB unavailable: it is missing or was replaced; see fxd doctor',
        )
    const repaired = [...this.#outOfOrder.keys()].filter((table) => !found.has(table))
    for (const table of repaired) log.info({ table }, 'table of QuestDB available again')
    this.#outOfOrder = found
    this.#repaired(repaired)
  }

  /** The states of all recorded tables now. */
  async states(): Promise<ReadonlyMap<string, TableState>> {
    await this.load()
    return new Map(this.recorded().map((table) => [table, this.#outOfOrder.get(table) ?? 'in order']))
  }

  /** Records all tables of ours that have no record, such as those of an older fxd. */
  async recordNew(deps: MakingDeps): Promise<void> {
    const { names } = this.#deps
    await makeTable(names.tables, createTables, deps)
    await this.load()
    const fresh = [...(await this.#presentIds())].filter(
      ([table]) => names.isRecorded(table) && !this.#records.has(table),
    )
    await this.#store(
      fresh.map(([table, id]) => [table, { id, accepted: 0 }]),
      deps,
    )
  }

  /** Records the tables as they are now: from now on they are right, also where they are missing. */
  async accept(tables: readonly string[], deps: MakingDeps): Promise<void> {
    const ids = await this.#presentIds()
    const accepted = deps.clock.utcMs()
    await this.#store(
      tables.map((table) => [table, { id: ids.get(table) ?? nothing, accepted }]),
      deps,
    )
  }

  async #store(
    records: readonly (readonly [table: string, TableRecord])[],
    { names, admin }: MakingDeps,
  ): Promise<void> {
    if (records.length === 0) return
    const rows = records.map(([table, { id, accepted }]) => `(0, '${table}', ${id}, ${accepted})`)
    await admin.exec(`INSERT INTO '${names.tables}' VALUES ${rows.join(', ')}`)
    await admin.exec(`SELECT wait_wal_table('${names.tables}')`)
    await this.load()
  }

  async #presentIds(): Promise<ReadonlyMap<string, number>> {
    const { names, queries, clock } = this.#deps
    // A server that has just started, and one that has just renamed a table, omit tables; they would count as missing.
    await untilListed(names, queries, clock)
    const rows = await queries.exec('SELECT table_name, id FROM tables()')
    return new Map(rows.map(([table, id]) => [String(table), Number(id)]))
  }
}
