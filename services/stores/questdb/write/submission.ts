import { type Job, Submission, type SubmissionDeps } from '../../write-queue.ts'
import type { EncodedRows } from './rows.ts'

/** Rows of one table that one caller wants stored. */
export type Piece = Job<EncodedRows>

export const submissionOf = (
  pieces: readonly EncodedRows[],
  deps: Omit<SubmissionDeps, 'rows'>,
): Submission<EncodedRows> =>
  new Submission(pieces, { ...deps, rows: pieces.reduce((sum, { ends }) => sum + ends.length, 0) })

export const tablesOf = (pieces: readonly Piece[]): ReadonlySet<string> =>
  new Set(pieces.map(({ work }) => work.table))
