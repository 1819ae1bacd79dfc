import type { RejectedRequest } from './sender.ts'
import type { Piece } from './submission.ts'

/** Whether a table or a column is missing. In that case no row is invalid. */
export const isOfSchema = ({ message }: RejectedRequest): boolean => /does not exist/.test(message)

/** The row that the server's message names, counted from 0. The server stops at the first invalid row. */
export function blamedRow({ message }: RejectedRequest): number | undefined {
  const line = /error in line (\d+):/.exec(message)?.[1]
  return line === undefined || Number(line) < 1 ? undefined : Number(line) - 1
}

/**
 * Which pieces of a rejected request have to be sent one by one: those of the named row's table, or all when the
 * message names no row. The others can be sent again unchanged.
 */
export function suspects(pieces: readonly Piece[], refusal: RejectedRequest): ReadonlySet<Piece> {
  const blamed = blamedRow(refusal)
  let end = 0
  const holder = pieces.find(({ work }) => {
    end += work.ends.length
    return blamed !== undefined && blamed < end
  })
  return new Set(holder ? pieces.filter(({ work }) => work.table === holder.work.table) : pieces)
}
