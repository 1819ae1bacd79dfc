import type { PoisonRows } from './sender.ts'
import type { Piece } from './submission.ts'

/** A table or a column is missing: no row is at fault. */
export const isOfSchema = ({ message }: PoisonRows): boolean => /does not exist/.test(message)

/** The row, counted from 0, that the server's words blame; it stops at the first one. */
export function blamedRow({ message }: PoisonRows): number | undefined {
  const line = /error in line (\d+):/.exec(message)?.[1]
  return line === undefined || Number(line) < 1 ? undefined : Number(line) - 1
}

/**
 * Which pieces of a refused request have to be looked at one by one: those of the blamed row's table, and
 * all of them when no row is blamed. The others may go out again as they are.
 */
export function suspects(pieces: readonly Piece[], refusal: PoisonRows): ReadonlySet<Piece> {
  const blamed = blamedRow(refusal)
  let end = 0
  const holder = pieces.find(({ work }) => {
    end += work.ends.length
    return blamed !== undefined && blamed < end
  })
  return new Set(holder ? pieces.filter(({ work }) => work.table === holder.work.table) : pieces)
}
