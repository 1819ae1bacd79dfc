import { TableOutOfOrder, Unavailable } from '../../../core/failure.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import { OutageLog } from '../../../platform/outage-log.ts'
import { SharedRun } from '../../../platform/serial.ts'
import { failingMsMax } from '../../../platform/write-outage.ts'
import { tablesOf, WriteQueue } from '../../write-queue/queue.ts'
import { Submission, type SubmissionOptions } from '../../write-queue/submission.ts'
import { Acks, type Piece } from './acks.ts'
import { Connections } from './connections.ts'
import type { EncodedRows } from './rows.ts'
import { RejectedRequest, RowSender, type SenderDeps } from './sender.ts'
import type { Visibility } from './visibility.ts'
import { type WriterMetrics, writerMetrics } from './writer-metrics.ts'

/** Maximum rows of one request: a live bar waits for no more than the request under way. */
const rowsPerRequest = 20_000
/** Pause before rows are sent again to a table that rejected them. */
const rejectedPauseMs = 30_000

interface WriterDeps extends SenderDeps {
  readonly visibility: Visibility
  /** Called when a table may be missing that existed before. */
  readonly tableGone: () => void
}

/**
 * The only writer. Each connection sends one request after another, with the rows of its tables. A write resolves when
 * its rows are readable. Rows of a table that fails are sent again after a short pause, or after 30 s if it rejects
 * them. A table that is suspended, missing or replaced gets them when it is in order again.
 */
export class Writer {
  readonly #deps: WriterDeps
  readonly #queue: WriteQueue<EncodedRows>
  readonly #connections: Connections<RowSender>
  readonly #sending: ReadonlyMap<RowSender, SharedRun>
  readonly #acks: Acks
  readonly #metrics: WriterMetrics
  readonly #outage: OutageLog
  /** Tables that rejected their last rows, with the server's reason. */
  readonly #rejecting = new Map<string, string>()
  #closed = false

  constructor(deps: WriterDeps) {
    const { options, visibility, tableGone } = deps
    const { clock, log } = options
    this.#deps = deps
    this.#metrics = writerMetrics(options.metrics)
    this.#outage = new OutageLog({ log, clock })
    this.#queue = new WriteQueue({ clock, rowsPerTake: rowsPerRequest, onReady: () => this.wake() })
    const lost = (pieces: readonly Piece[]): void => {
      tableGone()
      this.#queue.retry(pieces)
    }
    this.#acks = new Acks({ clock, visibility, metrics: this.#metrics, lost })
    this.#connections = new Connections(() => new RowSender(deps))
    const senders = this.#connections.all()
    this.#sending = new Map(senders.map((each) => [each, new SharedRun(() => this.#sendAll(each))]))
    visibility.onResumed = () => this.wake()
    visibility.onReplaced = () => {
      for (const each of senders) each.renew()
    }
    this.#gauges()
  }

  get failures(): number {
    return this.#connections.all().reduce((sum, { failures }) => sum + failures, 0)
  }

  get rejecting(): number {
    return this.#rejecting.size
  }

  get isClosed(): boolean {
    return this.#closed
  }

  waitingBytes(): ReadonlyMap<FeedKey, number> {
    return this.#queue.bytes()
  }

  /** Throws when the server has not stored rows for too long, even if it answers other requests. */
  throwIfFailing(): void {
    for (const [table, reason] of this.#rejecting)
      throw new TableOutOfOrder(table, `rejects rows (${reason})`)
    if (this.#queue.failingMs > failingMsMax)
      throw new Unavailable('store', new Error(`no rows were stored for ${failingMsMax / 1_000} s`))
  }

  /** Resolves once all rows are committed and readable. */
  write(pieces: readonly EncodedRows[], options: SubmissionOptions): Promise<void> {
    if (pieces.length === 0) return Promise.resolve()
    const submission = new Submission(pieces, options, this.#deps.options.clock)
    submission.onSettled = (cause) => {
      this.#queue.leave(submission)
      // What waited for these tables may be gone.
      if (cause !== undefined) for (const { table } of pieces) this.#rejecting.delete(table)
    }
    const unfit = pieces.map(({ table }) => this.#deps.visibility.errorOf(table)).find(Boolean)
    if (this.#closed) submission.fail(new Error('the store is closed'))
    else if (unfit && options.deadlineMs !== undefined) submission.fail(unfit)
    else if (!submission.isSettled) this.#queue.enter(submission)
    const senders = new Set(pieces.map(({ table }) => this.#connections.of(table)))
    for (const sender of senders) void this.#sending.get(sender)?.run()
    return submission.done
  }

  /** Sends what waits for tables that can be written again. */
  wake(): void {
    for (const sending of this.#sending.values()) void sending.run()
  }

  /** Fails all waiting writes and sends nothing more. */
  close(): void {
    this.#closed = true
    for (const submission of this.#queue.all()) submission.fail(new Error('the store is closed'))
    for (const sender of this.#connections.all()) sender.close()
  }

  async #sendAll(sender: RowSender): Promise<void> {
    // Writes that begin in one turn of the event loop share a request, because each request is a separate commit.
    await new Promise<void>((resolve) => this.#deps.options.clock.soon(resolve))
    const { visibility } = this.#deps
    const next = (): readonly Piece[] =>
      this.#queue.take((table) => this.#connections.of(table) === sender && !visibility.errorOf(table))
    for (let pieces = next(); pieces.length > 0 && !this.#closed; pieces = next())
      await this.#request(sender, pieces)
  }

  async #request(sender: RowSender, pieces: readonly Piece[]): Promise<void> {
    const { options, visibility } = this.#deps
    const before = { begunMs: options.clock.monotonicMs(), replacements: visibility.replacements }
    try {
      await sender.send(Buffer.concat(pieces.map(({ work }) => work.bytes)))
      this.#accepted(pieces)
      this.#acks.committed(pieces, before)
    } catch (cause) {
      if (this.#closed) return
      if (cause instanceof RejectedRequest) this.#rejected(sender, pieces, cause)
      else this.#failed(pieces, cause)
    }
  }

  #failed(pieces: readonly Piece[], cause: unknown): void {
    this.#metrics.failures.inc()
    this.#outage.failed({ text: 'QuestDB write failed; retrying', cause })
    this.#queue.retry(pieces)
  }

  #accepted(pieces: readonly Piece[]): void {
    this.#queue.accepted(pieces)
    for (const table of tablesOf(pieces))
      if (this.#rejecting.delete(table))
        this.#deps.options.log.info({ table }, 'QuestDB table takes its rows again')
    if (!this.#queue.hasFailed) this.#outage.worked('QuestDB stores rows again')
  }

  #rejected(sender: RowSender, pieces: readonly Piece[], cause: RejectedRequest): void {
    const { options, tableGone } = this.#deps
    this.#metrics.failures.inc()
    // The server caches a table's columns per connection: only a new connection sees a repaired table.
    sender.renew()
    const [table = '', ...others] = tablesOf(pieces)
    // Each table is sent alone next, to find the one that rejects its rows.
    if (others.length > 0) return this.#queue.retry(pieces, 0)
    if (!this.#rejecting.has(table))
      options.log.error(
        { err: cause, table },
        'QuestDB table out of order: it rejects rows, which wait; see fxd doctor',
      )
    this.#rejecting.set(table, cause.message)
    tableGone()
    this.#queue.retry(pieces, rejectedPauseMs)
  }

  #gauges(): void {
    const { metrics } = this.#deps.options
    metrics.gauge('fxd_questdb_rows_waiting', 'Rows that wait or are being written.', ['lane'], (gauge) => {
      for (const lane of ['live', 'backfill'] as const) gauge.set({ lane }, this.#queue.rows(lane))
    })
    metrics.gauge(
      'fxd_questdb_writes_failing_seconds',
      'Seconds for which QuestDB has taken no rows of the table that fails for longest.',
      [],
      (gauge) => gauge.set(this.#queue.failingMs / 1_000),
    )
  }
}
