import { createBuffer, type SenderBuffer, type SenderOptions } from '@questdb/nodejs-client'
import type { Work } from '../../write-queue/submission.ts'

/** Rows of one table in the server's wire format. They are kept until they are stored: the client forgets what it sent. */
export interface EncodedRows extends Work {
  readonly bytes: Buffer
  /** Offset behind each row in `bytes`. */
  readonly ends: readonly number[]
}

/** Maximum rows of one piece. The rows of a piece are sent together. */
export const rowsPerPiece = 5_000

export class RowEncoder {
  readonly #buffer: SenderBuffer
  readonly #pieces: EncodedRows[] = []
  #ends: number[] = []
  #table = ''
  readonly #rowsPerPiece: number

  constructor(options: SenderOptions, rowsMax: number = rowsPerPiece) {
    this.#rowsPerPiece = rowsMax
    this.#buffer = createBuffer(options)
  }

  /** Adds one row. `fill` sets its symbols first, then its columns, then its time. */
  add(table: string, fill: (row: SenderBuffer) => void): void {
    if (table !== this.#table && this.#ends.length > 0) this.#cut()
    this.#table = table
    fill(this.#buffer.table(table))
    this.#ends.push(this.#buffer.currentPosition())
    if (this.#ends.length >= this.#rowsPerPiece) this.#cut()
  }

  pieces(): readonly EncodedRows[] {
    if (this.#ends.length > 0) this.#cut()
    return this.#pieces
  }

  #cut(): void {
    const bytes = this.#buffer.toBufferNew()
    if (bytes === null) return
    this.#pieces.push({ table: this.#table, rows: this.#ends.length, bytes, ends: this.#ends })
    this.#ends = []
  }
}

export const lines = ({ bytes, ends }: EncodedRows): readonly Buffer[] =>
  ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
