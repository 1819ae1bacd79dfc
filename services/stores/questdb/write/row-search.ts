import type { RefusedRow } from './park.ts'
import { blamedRow, isOfSchema } from './refusal.ts'
import { RejectedRequest } from './sender.ts'
import type { Slices } from './slices.ts'

/** Too many rows were rejected for single faults: the columns of their table are not those of this fxd. */
export class TooManyRefused extends Error {}

export interface RowSearchDeps {
  /** Commits all rows, or rejects with `RejectedRequest`; any other error ends the search. */
  readonly send: (bytes: Buffer) => Promise<void>
  /** The search ends early, because nobody waits for its result. */
  readonly isOver: () => boolean
  /** Maximum rejected rows; with more of them the search fails with `TooManyRefused`. 0: the first one fails it. */
  readonly refusedMax: number
}

/**
 * Commits the valid ones of some rows and returns the others. It sends the rows in ever smaller parts. Fails with
 * `RejectedRequest` when a table or a column is missing, or when no row may be rejected.
 */
export async function commitValidRows(rows: Slices, deps: RowSearchDeps): Promise<readonly RefusedRow[]> {
  const refused: RefusedRow[] = []
  await search(rows, refused, deps)
  return refused
}

async function search(rows: Slices, refused: RefusedRow[], deps: RowSearchDeps): Promise<void> {
  for (let left = rows; left.count > 0 && !deps.isOver(); ) {
    const refusal = await refusalOf(left, deps)
    if (refusal === undefined) return
    const { message } = refusal
    if (isOfSchema(refusal) || deps.refusedMax === 0) throw refusal
    if (refused.length >= deps.refusedMax)
      throw new TooManyRefused(
        `more than ${deps.refusedMax} rows of one write were rejected, the last for: ${message}`,
      )
    const refuse = (some: Slices): void => {
      for (const line of some.lines()) refused.push({ line, reason: message })
    }
    if (left.count === 1) return refuse(left)
    const blamed = blamedRow(refusal)
    const isBlamed = blamed !== undefined && blamed < left.count
    const [suspect, others] = isBlamed ? left.takeOut(blamed) : left.halves()
    // Search the first named row alone: no row is refused before the server's row numbers have proved correct.
    if (isBlamed && refused.length > 0) refuse(suspect)
    else await search(suspect, refused, deps)
    left = others
  }
}

async function refusalOf(rows: Slices, { send }: RowSearchDeps): Promise<RejectedRequest | undefined> {
  try {
    await send(rows.bytes())
    return undefined
  } catch (cause) {
    if (cause instanceof RejectedRequest) return cause
    throw cause
  }
}
