import type { SenderOptions } from '@questdb/nodejs-client'
import { Backoff } from '../../../platform/backoff.ts'
import { FailureSpan } from '../../../platform/write-outage.ts'
import type { TableNames } from '../layout/tables.ts'
import type { QuestdbOptions } from '../options.ts'
import { parkedRows, type RefusedRow } from './park.ts'
import { blamedRow, isOfSchema } from './refusal.ts'
import { RejectedRequest, type RowSender, resendPauses } from './sender.ts'
import { Slices } from './slices.ts'
import type { Piece } from './submission.ts'
import type { Visibility } from './visibility.ts'
import type { WriterMetrics } from './writer-metrics.ts'

/**
 * Maximum rows of rejected pieces that wait or are being searched; a further piece fails at once. It is well below the
 * bound of the write queue.
 */
export const rejectedRowsMax = 50_000
/**
 * Maximum rejected rows in one piece of history. Live pieces have no such bound: they are few, and failing them would
 * delay the feed's other tables.
 */
const refusedRowsMax = 128

export interface RejectedRowsDeps {
  readonly options: QuestdbOptions
  readonly sender: SenderOptions
  readonly names: TableNames
  readonly visibility: Visibility
  readonly metrics: WriterMetrics
  readonly tableGone: () => void
}

/**
 * A piece of history has more rejected rows than errors can explain: the columns of its table are not those of this
 * fxd.
 */
class RefusedWithoutEnd extends Error {}

/**
 * Finds the rows for which the server rejects a request. It sends the request's pieces one by one over a separate
 * connection, while the writer continues. Valid rows are committed. Rejected rows are parked and logged as an error,
 * and the piece is then acknowledged.
 * A missing table or column, or too many rejected rows of history, mean that the rows are valid. Then the submission
 * fails and its collector sends it again; failures that continue make the store unavailable.
 * Later rows of a series may be stored before the rows of a rejected piece. This is harmless: readers order bars by
 * revision and by `taken`, and use the greater of two usage counters. Windows of a feed and changes of the registry
 * are written one after another.
 */
export class RejectedRows {
  readonly #deps: RejectedRowsDeps
  /** Its connection, separate from those of the writer. */
  readonly connection: RowSender
  readonly #queue: Piece[] = []
  /** Failures by table. Storing other rows of the table does not end a failure: the rejected rows are still retried. */
  readonly #failures = new Map<string, FailureSpan>()
  #rows = 0
  #searching = false
  #closed = false

  constructor(deps: RejectedRowsDeps, connection: RowSender) {
    this.#deps = deps
    this.connection = connection
  }

  /** Milliseconds for which valid rows have been rejected. */
  get failingMs(): number {
    return Math.max(0, ...[...this.#failures.values()].map(({ ms }) => ms))
  }

  /** Rows that wait or are being searched. */
  get rows(): number {
    return this.#rows
  }

  take(pieces: readonly Piece[], refusal: RejectedRequest): void {
    for (const piece of pieces) {
      const count = piece.work.ends.length
      if (this.#rows > 0 && this.#rows + count > rejectedRowsMax) {
        const full = `more than ${rejectedRowsMax} rows of rejected requests wait to be searched one by one`
        piece.submission.settle(new Error(full, { cause: refusal }))
      } else {
        this.#queue.push(piece)
        this.#rows += count
      }
    }
    this.#run()
  }

  close(): void {
    this.#closed = true
  }

  #run(): void {
    if (this.#searching || this.#closed || this.#queue.length === 0) return
    this.#searching = true
    this.#searchAll()
      .catch((cause: unknown) =>
        this.#deps.options.log.error({ err: cause }, 'a search for rejected rows failed; continuing'),
      )
      .finally(() => {
        this.#searching = false
        // A piece may have been added after the last check.
        this.#run()
      })
      .catch(() => undefined)
  }

  async #searchAll(): Promise<void> {
    for (let piece = this.#queue.shift(); piece && !this.#closed; piece = this.#queue.shift()) {
      try {
        await this.#search(piece)
      } finally {
        this.#rows -= piece.work.ends.length
      }
    }
  }

  /** Retries until the submission is settled, at the latest at its deadline. */
  async #search(piece: Piece): Promise<void> {
    const { options, visibility, metrics } = this.#deps
    // The server caches a table's columns per connection: only a new connection sees a repaired table.
    this.connection.renew()
    const retries = new Backoff(options.clock, resendPauses)
    while (!this.#isOver(piece)) {
      if (visibility.rejectSuspended(piece)) return
      try {
        return await this.#store(piece)
      } catch (cause) {
        if (cause instanceof RejectedRequest || cause instanceof RefusedWithoutEnd)
          return this.#fail(piece, cause)
        metrics.failures.inc()
        const retryInMs = retries.nextMs()
        options.log.warn({ err: cause, retryInMs }, 'QuestDB write of a rejected request failed; retrying')
        await options.clock.sleep(retryInMs)
      }
    }
  }

  #isOver({ submission }: Piece): boolean {
    return this.#closed || submission.settled
  }

  #fail({ submission, work: { table } }: Piece, cause: Error): void {
    const failures = this.#failures.get(table) ?? new FailureSpan(this.#deps.options.clock)
    this.#failures.set(table, failures)
    failures.happened()
    this.#deps.tableGone()
    this.#deps.options.log.error(
      { err: cause, table },
      'QuestDB rejected rows: the schema of their table is not the expected one; run "fxd doctor"',
    )
    submission.settle(cause)
  }

  /** Sending rows again after a lost answer changes nothing, except that rows may be parked twice. */
  async #store(piece: Piece): Promise<void> {
    const { visibility, names, tableGone } = this.#deps
    const { replacements } = visibility
    const refused: RefusedRow[] = []
    await this.#commit(new Slices(piece.work), piece, refused)
    if (this.#isOver(piece)) return
    this.#failures.delete(piece.work.table)
    if (refused.length > 0) await this.#park(refused, piece)
    const tables = [piece.work.table, ...(refused.length > 0 ? [names.parked] : [])]
    // The next piece does not wait until this one is readable.
    const commit = (): void => piece.submission.committed(piece.work)
    visibility.wait(tables, replacements, commit).then(
      () => piece.submission.stored(),
      (cause: unknown) => {
        tableGone()
        piece.submission.settle(cause)
      },
    )
  }

  /** Commits the valid ones of these rows and adds the others to `refused`. */
  async #commit(rows: Slices, piece: Piece, refused: RefusedRow[]): Promise<void> {
    for (let left = rows; left.count > 0 && !this.#isOver(piece); ) {
      const refusal = await this.#refusalOf(left)
      if (refusal === undefined) return
      // A change of the registry counts as a whole or not at all.
      if (isOfSchema(refusal) || piece.work.table === this.#deps.names.registry) throw refusal
      if (piece.submission.lane === 'backfill' && refused.length >= refusedRowsMax)
        throw new RefusedWithoutEnd(
          `more than ${refusedRowsMax} rows of one write, the last for: ${refusal.message}`,
        )
      if (left.count === 1) {
        for (const line of left.lines()) refused.push({ line, reason: refusal.message })
        return
      }
      const blamed = blamedRow(refusal)
      const isBlamed = blamed !== undefined && blamed < left.count
      const [suspect, others] = isBlamed ? left.takeOut(blamed) : left.halves()
      // Search the first named row alone: no row is parked before the server's row numbers have proved correct.
      if (isBlamed && refused.length > 0)
        for (const line of suspect.lines()) refused.push({ line, reason: refusal.message })
      else await this.#commit(suspect, piece, refused)
      left = others
    }
  }

  async #refusalOf(rows: Slices): Promise<RejectedRequest | undefined> {
    try {
      await this.connection.send(rows.bytes())
      return undefined
    } catch (cause) {
      if (cause instanceof RejectedRequest) return cause
      throw cause
    }
  }

  async #park(refused: readonly RefusedRow[], { work: { table } }: Piece): Promise<void> {
    const { options, names, metrics } = this.#deps
    await this.connection.send(parkedRows(refused, this.#deps))
    metrics.parked.inc(refused.length)
    const [{ reason } = { reason: '' }] = refused
    options.log.error(
      { rows: refused.length, of: table, reason, table: names.parked },
      'QuestDB rejected rows; they are parked',
    )
  }
}
