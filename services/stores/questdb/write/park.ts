import type { SenderOptions } from '@questdb/nodejs-client'
import type { TableNames } from '../layout/tables.ts'
import type { QuestdbOptions } from '../options.ts'
import { RowEncoder } from './rows.ts'

const reasonLengthMax = 1_000

/** A row that is not stored, as it was sent, with the server's reason. */
export interface RefusedRow {
  readonly line: Buffer
  readonly reason: string
}

/**
 * A row that the server rejects although ingest accepted it is a defect. It is not dropped: its bytes are stored in
 * base64 in a separate table, from which it can be sent again.
 */
export function parkedRows(
  refused: readonly RefusedRow[],
  context: { options: QuestdbOptions; sender: SenderOptions; names: TableNames },
): Buffer {
  const { options, sender, names } = context
  const encoder = new RowEncoder(sender)
  for (const { line, reason } of refused)
    encoder.add(names.parked, (row) =>
      row
        .symbol('origin', 'writer')
        .stringColumn('reason', reason.slice(0, reasonLengthMax))
        .stringColumn('line', line.toString('base64'))
        .at(options.clock.utcMs(), 'ms'),
    )
  return Buffer.concat(encoder.pieces().map(({ bytes }) => bytes))
}
