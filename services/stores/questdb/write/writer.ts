import type { Lane } from '../../../core/bars/series.ts'
import { Unavailable } from '../../../core/failure.ts'
import { Backoff } from '../../../platform/backoff.ts'
import { SharedRun } from '../../../platform/serial.ts'
import { failingMsMax } from '../../../platform/write-outage.ts'
import { WriteQueue, writeDeadlineMs } from '../../write-queue.ts'
import type { ConnectionCheck } from '../pg/connection-check.ts'
import { Acks } from './acks.ts'
import { Connections } from './connections.ts'
import { suspects } from './refusal.ts'
import { RejectedRows, type RejectedRowsDeps } from './rejected-rows.ts'
import type { EncodedRows } from './rows.ts'
import { RejectedRequest, RowSender, resendPauses } from './sender.ts'
import { type Piece, submissionOf, tablesOf } from './submission.ts'
import { type WriterMetrics, writerMetrics } from './writer-metrics.ts'

/** Maximum rows of one request: a live bar waits for no more than the request under way. */
const rowsPerRequest = 20_000
/** Maximum rows that wait outside the queue, per lane; a further write fails at once and its collector retries it. */
const rowsOutsideMax = 300_000

export interface WriterDeps extends Omit<RejectedRowsDeps, 'metrics'> {
  readonly check: ConnectionCheck
}

export interface WriteOptions {
  readonly lane: Lane
  /** Called at most once, when all rows are committed, or parked, in tables that were not replaced. */
  readonly onCommitted?: (() => void) | undefined
}

/**
 * The only writer. It sends requests one after another, each over as many connections as its tables have, live rows
 * before backfill. A write resolves when its rows are readable. Pieces that QuestDB rejects for their rows go to
 * `RejectedRows`, and the others are sent again.
 */
export class Writer {
  readonly #deps: WriterDeps
  readonly #queue = new WriteQueue<EncodedRows>({
    rowsPerTake: rowsPerRequest,
    rowsOf: ({ ends }) => ends.length,
    rowsOutsideMax,
  })
  readonly #connections: Connections<RowSender>
  readonly #rejectedRows: RejectedRows
  readonly #acks: Acks
  readonly #metrics: WriterMetrics
  /** Kept over an outage, also when all waiting writes have failed meanwhile. */
  readonly #retries: Backoff
  readonly #sending = new SharedRun(() => this.#sendAll())
  #closed = false

  constructor(deps: WriterDeps) {
    const { options, sender, check, visibility, tableGone } = deps
    this.#deps = deps
    this.#metrics = writerMetrics(options.metrics)
    this.#acks = new Acks({ clock: options.clock, visibility, metrics: this.#metrics, tableGone })
    const connect = (): RowSender => new RowSender(options, sender, check)
    this.#connections = new Connections(connect)
    this.#rejectedRows = new RejectedRows({ ...deps, metrics: this.#metrics }, connect())
    this.#retries = new Backoff(options.clock, resendPauses)
    visibility.onReplaced = () => {
      for (const each of this.#allSenders()) each.renew()
    }
    this.#gauges()
  }

  /** Requests with an unknown outcome so far; each may still arrive at the server later. */
  get failures(): number {
    return this.#allSenders().reduce((sum, { failures }) => sum + failures, 0)
  }

  /** Throws when the server has not stored rows for too long, even if it answers other requests. */
  throwIfFailing(): void {
    if (this.#failingMs() > failingMsMax)
      throw new Unavailable('store', new Error(`no rows were stored for ${failingMsMax / 1_000} s`))
  }

  /** Resolves once all rows are committed and readable, or parked. Rejects with `Unavailable` within the deadline. */
  write(pieces: readonly EncodedRows[], { lane, onCommitted }: WriteOptions): Promise<void> {
    if (pieces.length === 0) return Promise.resolve()
    const { clock } = this.#deps.options
    const submission = submissionOf(pieces, { lane, deadlineMs: writeDeadlineMs, clock, onCommitted })
    submission.onSettled = () => {
      this.#queue.leave(submission)
      void this.#sending.run()
    }
    if (this.#closed) submission.settle(new Error('the store is closed'))
    else this.#queue.enter(submission)
    void this.#sending.run()
    return submission.done
  }

  /** Fails all waiting writes and sends nothing more. */
  close(): void {
    this.#closed = true
    this.#rejectedRows.close()
    for (const submission of this.#queue.all()) submission.settle(new Error('the store is closed'))
    for (const sender of this.#allSenders()) sender.close()
  }

  #failingMs(): number {
    return Math.max(this.#rejectedRows.failingMs, ...this.#allSenders().map(({ failingMs }) => failingMs))
  }

  #allSenders(): readonly RowSender[] {
    return [...this.#connections.all(), this.#rejectedRows.connection]
  }

  async #sendAll(): Promise<void> {
    // Writes that begin in one turn of the event loop share a request, because each request is a separate commit.
    await new Promise<void>((resolve) => this.#deps.options.clock.soon(resolve))
    for (let pieces = this.#queue.take(); pieces.length > 0 && !this.#closed; pieces = this.#queue.take()) {
      try {
        const able = pieces.filter((piece) => !this.#deps.visibility.rejectUnfit(piece))
        if (able.length > 0) await this.#request(able)
      } catch (cause) {
        this.#deps.options.log.error({ err: cause }, 'the writer of QuestDB failed; continuing')
      }
    }
  }

  /** Resolves when all connections have finished, so that no connection has two requests at once. */
  async #request(pieces: readonly Piece[]): Promise<void> {
    const { clock } = this.#deps.options
    const before = { begunMs: clock.monotonicMs(), replacements: this.#deps.visibility.replacements }
    const stored: Piece[] = []
    const again = new Set<Piece>()
    let retryInMs: number | undefined
    const deliverOver = async (sender: RowSender, own: readonly Piece[]): Promise<void> => {
      try {
        await sender.send(Buffer.concat(own.map(({ work }) => work.bytes)))
        stored.push(...own)
      } catch (cause) {
        if (this.#closed) return
        if (cause instanceof RejectedRequest) sender.renew()
        else retryInMs ??= this.#retries.nextMs()
        for (const piece of this.#keep(own, cause, retryInMs)) again.add(piece)
      }
    }
    const bySender = Map.groupBy(pieces, ({ work }) => this.#connections.of(work.table))
    await Promise.all([...bySender].map(([sender, own]) => deliverOver(sender, own)))
    if (stored.length > 0) this.#acks.committed(stored, before)
    this.#queue.putBack(pieces.filter((piece) => again.has(piece)))
    if (retryInMs === undefined) this.#retries.reset()
    else await clock.sleep(retryInMs)
  }

  /** Returns the pieces of a failed request that are sent again unchanged. */
  #keep(pieces: readonly Piece[], cause: unknown, retryInMs: number | undefined): readonly Piece[] {
    this.#metrics.failures.inc()
    const { log } = this.#deps.options
    if (!(cause instanceof RejectedRequest)) {
      const tables = tablesOf(pieces).size
      log.warn({ err: cause, tables, retryInMs }, 'QuestDB write failed; retrying')
      return pieces
    }
    const suspected = suspects(pieces, cause)
    log.warn(
      { err: cause, tables: [...tablesOf([...suspected])] },
      'QuestDB rejected rows; searching for the invalid ones',
    )
    this.#rejectedRows.take([...suspected], cause)
    return pieces.filter((piece) => !suspected.has(piece))
  }

  #gauges(): void {
    const { metrics } = this.#deps.options
    metrics.gauge('fxd_questdb_rows_waiting', 'Rows that wait or are being written.', ['lane'], (gauge) => {
      for (const lane of ['live', 'backfill'] as const) gauge.set({ lane }, this.#queue.rows(lane))
    })
    metrics.gauge(
      'fxd_questdb_rejected_rows_pending',
      'Rows of rejected requests that are being searched for invalid rows.',
      [],
      (gauge) => gauge.set(this.#rejectedRows.rows),
    )
    metrics.gauge(
      'fxd_questdb_writes_failing_seconds',
      'Seconds for which QuestDB has accepted none of the rows sent to it.',
      [],
      (gauge) => gauge.set(this.#failingMs() / 1_000),
    )
  }
}
