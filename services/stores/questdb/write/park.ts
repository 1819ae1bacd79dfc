import type { SenderOptions } from '@questdb/nodejs-client'
import type { TableNames } from '../layout/tables.ts'
import type { QuestdbOptions } from '../options.ts'
import { RowEncoder } from './rows.ts'

const reasonLengthMax = 1_000

/** A row that is not stored, as it was sent, and why in the server's words. */
export interface RefusedRow {
  readonly line: Buffer
  readonly reason: string
}

/**
 * A row that the server refuses although ingest let it pass is a defect. It is not dropped: exactly as it
 * was sent (in base64) it goes into a table of its own, from which it can be sent again.
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
