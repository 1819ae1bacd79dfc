import type { SenderOptions } from '@questdb/nodejs-client'
import type { Span, Window } from '../../core/bars/window.ts'
import { keptWindows, type Withdrawal } from '../../core/bars/withdrawal.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import { patientReadDeadlineMs } from '../../platform/read-turns.ts'
import { writeDeadlineMs } from '../write-queue/submission.ts'
import type { TableList } from './layout/table-list.ts'
import { allSymbols } from './layout/tables.ts'
import { Fields } from './pg/fields.ts'
import type { PgPool } from './pg/pool.ts'
import { RowEncoder } from './write/rows.ts'
import type { Writer } from './write/writer.ts'

export interface WithdrawalDeps {
  readonly tableList: TableList
  readonly pool: PgPool
  readonly writer: Writer
  readonly sender: SenderOptions
}

/** A withdrawal of one symbol, or of all symbols of some tables. */
export interface NamedWithdrawal extends Omit<Withdrawal, 'symbol'> {
  /** Whether the windows of this symbol (its plain name) are withdrawn. */
  readonly concerns: (name: string) => boolean
}

interface WindowRow {
  /** In microseconds. */
  readonly begun: number
  readonly name: string
  readonly writer: string
  /** NaN in rows of an old layout. */
  readonly slot: number
  readonly span: Span
}

/**
 * Withdraws windows: replaces each of their rows with an empty window, which readers leave out. Other writers notice
 * that and write new rows. `keep` first stores, in rows of another writer, what stays of them: so none is missing after
 * a crash.
 */
export async function withdrawWindows(
  of: NamedWithdrawal,
  { tableList, pool, writer, sender }: WithdrawalDeps,
  keep: (windows: readonly Window[]) => Promise<void>,
): Promise<void> {
  const { feed, resolution, concerns, span: withdrawn } = of
  const table = await tableList.windowsOf(feed)
  if (table === undefined) return
  const rows: WindowRow[] = []
  const sql = `SELECT ts::long, sym, writer, slot::long, start, stop FROM '${table}' WHERE res = $1 AND start < stop`
  const begin = () => {
    rows.length = 0
    return (view: DataView, start: number): void => {
      const fields = new Fields(view, start)
      const [begun, name] = [fields.long(), fields.text() ?? allSymbols]
      const [writerId, slot] = [fields.text() ?? '', fields.long()]
      const span = { from: feedSeconds(fields.long()), to: feedSeconds(fields.long()) }
      if (span.from >= withdrawn.to || span.to <= withdrawn.from) return
      if (name === allSymbols || concerns(name)) rows.push({ begun, name, writer: writerId, slot, span })
    }
  }
  await pool.read({ sql, parameterSets: [[resolution]] }, begin, { deadlineMs: patientReadDeadlineMs })
  if (rows.length === 0) return
  const symbolOf = (name: string) => (name === allSymbols ? undefined : compoundKey(feed, name))
  await keep(
    keptWindows(
      rows.map(({ name, span }) => ({ symbol: symbolOf(name), ...span })),
      of,
    ),
  )
  const encoder = new RowEncoder(sender)
  for (const { begun, name, writer: writerId, slot } of rows)
    encoder.add(table, (row) => {
      row.symbol('sym', name).symbol('res', resolution).symbol('writer', writerId)
      if (!Number.isNaN(slot)) row.intColumn('slot', slot)
      row.intColumn('start', 0).intColumn('stop', 0).at(begun, 'us')
    })
  await writer.write(encoder.pieces(), { lane: 'live', deadlineMs: writeDeadlineMs })
}
