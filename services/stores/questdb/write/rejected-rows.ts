import type { SenderOptions } from '@questdb/nodejs-client'
import { Backoff } from '../../../platform/backoff.ts'
import { SharedRun } from '../../../platform/serial.ts'
import { FailureSpan } from '../../../platform/write-outage.ts'
import type { TableNames } from '../layout/tables.ts'
import type { QuestdbOptions } from '../options.ts'
import { parkedRows, type RefusedRow } from './park.ts'
import { commitValidRows, TooManyRefused } from './row-search.ts'
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
const refusedOfHistoryMax = 128

export interface RejectedRowsDeps {
  readonly options: QuestdbOptions
  readonly sender: SenderOptions
  readonly names: TableNames
  readonly visibility: Visibility
  readonly metrics: WriterMetrics
  /** Called when a table is missing that existed before. */
  readonly tableGone: () => void
}

/**
 * Stores rejected requests piece by piece over a separate connection, while the writer continues. Valid rows are
 * committed. Rejected rows are parked and logged as an error, and the piece is then acknowledged.
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
  readonly #searching = new SharedRun(() => this.#searchAll())
  #rows = 0
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
    void this.#searching.run()
  }

  close(): void {
    this.#closed = true
  }

  async #searchAll(): Promise<void> {
    for (let piece = this.#queue.shift(); piece && !this.#closed; piece = this.#queue.shift()) {
      try {
        await this.#search(piece)
      } catch (cause) {
        this.#deps.options.log.error(
          { err: cause },
          'search for invalid rows failed; the write of these rows will time out',
        )
      }
      this.#rows -= piece.work.ends.length
    }
  }

  /** Retries until the submission is settled, at the latest at its deadline. */
  async #search(piece: Piece): Promise<void> {
    const { options, visibility, metrics } = this.#deps
    // The server caches a table's columns per connection: only a new connection sees a repaired table.
    this.connection.renew()
    const retries = new Backoff(options.clock, resendPauses)
    while (!this.#isOver(piece)) {
      if (visibility.rejectUnfit(piece)) return
      try {
        return await this.#store(piece)
      } catch (cause) {
        if (cause instanceof RejectedRequest || cause instanceof TooManyRefused)
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
    const refused = await commitValidRows(new Slices(piece.work), {
      send: (bytes) => this.connection.send(bytes),
      isOver: () => this.#isOver(piece),
      refusedMax: this.#refusedMax(piece),
    })
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

  #refusedMax({ submission, work: { table } }: Piece): number {
    // A change of the registry counts as a whole or not at all.
    if (table === this.#deps.names.registry) return 0
    return submission.lane === 'backfill' ? refusedOfHistoryMax : Number.POSITIVE_INFINITY
  }

  async #park(refused: readonly RefusedRow[], { work: { table } }: Piece): Promise<void> {
    const { options, names, metrics } = this.#deps
    await this.connection.send(parkedRows(refused, this.#deps))
    metrics.parked.inc(refused.length)
    const [{ reason } = { reason: '' }] = refused
    options.log.error(
      { rows: refused.length, table, reason, parkedIn: names.parked },
      'QuestDB rejected rows; they are parked',
    )
  }
}
