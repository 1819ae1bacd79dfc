import type { SenderOptions } from '@questdb/nodejs-client'
import { Backoff } from '../../../platform/backoff.ts'
import { Failures } from '../../../platform/trouble.ts'
import type { TableNames } from '../layout/tables.ts'
import type { QuestdbOptions } from '../options.ts'
import { parkedRows, type RefusedRow } from './park.ts'
import { blamedRow, isOfSchema } from './refusal.ts'
import { PoisonRows, type RowSender } from './sender.ts'
import { Slices } from './slices.ts'
import type { Piece } from './submission.ts'
import type { Visibility } from './visibility.ts'
import type { WriterMetrics } from './writer-metrics.ts'

/** Rows that wait or are being sifted, well below what the line lets in; a piece beyond that fails at once. */
export const rejectedRowsMax = 50_000
/**
 * Rows of one piece of history that may be refused. Live ones have no such bound: they are few, and failing
 * them would hold up the feed's other tables.
 */
const refusedRowsMax = 128
const retryDelayMinMs = 100
const retryDelayMaxMs = 2_000

export interface RejectedRowsDeps {
  readonly options: QuestdbOptions
  readonly sender: SenderOptions
  readonly names: TableNames
  readonly visibility: Visibility
  readonly metrics: WriterMetrics
  readonly tableGone: () => void
}

/** More than a piece of history may hold by mistake: its columns are not those of this fxd. */
class RefusedWithoutEnd extends Error {}

/**
 * Finds the rows for which the server refuses a request, piece by piece over a connection of its own, beside
 * the pump: good rows are committed, refused ones parked with an alarm, and then the piece is acknowledged.
 * Ever more refused rows of history, or a missing table or column, are no fault of the rows: the submission
 * fails, so that it comes again, and what goes on failing is trouble of the store.
 *
 * Later rows of a series may overtake those that are sifted. No reader minds: bars go by their revisions
 * and the moment of taking, counters of usage by the greater one; windows of a feed and changes of the
 * registry are written one after the other.
 */
export class RejectedRows {
  readonly #deps: RejectedRowsDeps
  readonly #path: RowSender
  readonly #queue: Piece[] = []
  /** By table. That other rows of it are taken ends nothing: those refused come again. */
  readonly #failures = new Map<string, Failures>()
  #rows = 0
  #sifting = false
  #closed = false

  constructor(deps: RejectedRowsDeps, path: RowSender) {
    this.#deps = deps
    this.#path = path
  }

  /** For so long rows have been refused that are not at fault, in milliseconds. */
  get troubleMs(): number {
    return Math.max(0, ...[...this.#failures.values()].map(({ ms }) => ms))
  }

  /** Rows that wait or are being sifted. */
  get rows(): number {
    return this.#rows
  }

  take(pieces: readonly Piece[], refusal: PoisonRows): void {
    for (const piece of pieces) {
      const count = piece.work.ends.length
      if (this.#rows > 0 && this.#rows + count > rejectedRowsMax) {
        const full = `more than ${rejectedRowsMax} rows of refused requests wait to be looked at one by one`
        piece.submission.settle(new Error(full, { cause: refusal }))
      } else {
        this.#queue.push(piece)
        this.#rows += count
      }
    }
    this.#go()
  }

  close(): void {
    this.#closed = true
  }

  #go(): void {
    if (this.#sifting || this.#closed || this.#queue.length === 0) return
    this.#sifting = true
    this.#siftAll()
      .catch((cause: unknown) => this.#deps.options.log.error({ err: cause }, 'sifting refused rows failed'))
      .finally(() => {
        this.#sifting = false
        // Something may have come in after the last look.
        this.#go()
      })
      .catch(() => undefined)
  }

  async #siftAll(): Promise<void> {
    for (let piece = this.#queue.shift(); piece && !this.#closed; piece = this.#queue.shift()) {
      try {
        await this.#sift(piece)
      } finally {
        this.#rows -= piece.work.ends.length
      }
    }
  }

  /** Until its caller has heard, at the latest at its deadline. */
  async #sift(piece: Piece): Promise<void> {
    const { options, visibility, metrics } = this.#deps
    // The server remembers the columns of a table per connection: one that was repaired is seen by a fresh one.
    this.#path.renew()
    const retries = new Backoff(options.clock, {
      firstMs: retryDelayMinMs,
      maxMs: retryDelayMaxMs,
      jitter: 'none',
    })
    while (!this.#isOver(piece)) {
      if (visibility.turnsAway(piece)) return
      try {
        return await this.#store(piece)
      } catch (cause) {
        if (cause instanceof PoisonRows || cause instanceof RefusedWithoutEnd) return this.#fail(piece, cause)
        metrics.failures.inc()
        const retryInMs = retries.nextMs()
        options.log.warn({ err: cause, retryInMs }, 'QuestDB did not take rows that are sifted')
        await options.clock.sleep(retryInMs)
      }
    }
  }

  #isOver({ submission }: Piece): boolean {
    return this.#closed || submission.settled
  }

  #fail({ submission, work: { table } }: Piece, cause: Error): void {
    const failures = this.#failures.get(table) ?? new Failures(this.#deps.options.clock)
    this.#failures.set(table, failures)
    failures.happened()
    this.#deps.tableGone()
    this.#deps.options.log.error(
      { err: cause, table },
      'QuestDB refuses rows, and it is not their fault: its tables are not those of this fxd',
    )
    submission.settle(cause)
  }

  /** What is sent again after a lost answer changes nothing; rows may be parked twice. */
  async #store(piece: Piece): Promise<void> {
    const { visibility, names, tableGone } = this.#deps
    const since = visibility.replacements
    const refused: RefusedRow[] = []
    await this.#commit(new Slices(piece.work), piece, refused)
    if (this.#isOver(piece)) return
    this.#failures.delete(piece.work.table)
    if (refused.length > 0) await this.#park(refused, piece)
    const tables = [piece.work.table, ...(refused.length > 0 ? [names.parked] : [])]
    // The next piece does not wait until this one can be read.
    visibility.wait(tables, since).then(
      () => piece.submission.stored(),
      (cause: unknown) => {
        tableGone()
        piece.submission.settle(cause)
      },
    )
  }

  /** Commits what the server takes of these rows, and adds to `refused` what it does not. */
  async #commit(rows: Slices, piece: Piece, refused: RefusedRow[]): Promise<void> {
    for (let left = rows; left.count > 0 && !this.#isOver(piece); ) {
      const refusal = await this.#refusalOf(left)
      if (refusal === undefined) return
      // A change of the registry counts whole or not at all.
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
      // The first one alone: nothing is parked before the server's numbers have proven to be ours.
      if (isBlamed && refused.length > 0)
        for (const line of suspect.lines()) refused.push({ line, reason: refusal.message })
      else await this.#commit(suspect, piece, refused)
      left = others
    }
  }

  async #refusalOf(rows: Slices): Promise<PoisonRows | undefined> {
    try {
      await this.#path.send(rows.bytes())
      return undefined
    } catch (cause) {
      if (cause instanceof PoisonRows) return cause
      throw cause
    }
  }

  async #park(refused: readonly RefusedRow[], { work: { table } }: Piece): Promise<void> {
    const { options, names, metrics } = this.#deps
    await this.#path.send(parkedRows(refused, this.#deps))
    metrics.parked.inc(refused.length)
    const [{ reason } = { reason: '' }] = refused
    options.log.error(
      { rows: refused.length, of: table, reason, table: names.parked },
      'QuestDB refused rows; they are parked',
    )
  }
}
