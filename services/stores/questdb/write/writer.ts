import type { SenderOptions } from '@questdb/nodejs-client'
import type { Lane } from '../../../core/bars/series.ts'
import { Unavailable } from '../../../core/failure.ts'
import { Backoff } from '../../../platform/backoff.ts'
import { troubleMsMax } from '../../../platform/trouble.ts'
import { WriteQueue, writeDeadlineMs } from '../../write-queue.ts'
import type { TableNames } from '../layout/tables.ts'
import type { QuestdbOptions } from '../options.ts'
import type { ConnectionCheck } from '../pg/connection-check.ts'
import { Acks } from './acks.ts'
import { Connections } from './connections.ts'
import { suspects } from './refusal.ts'
import { RejectedRows } from './rejected-rows.ts'
import type { EncodedRows } from './rows.ts'
import { PoisonRows, RowSender } from './sender.ts'
import { type Piece, submissionOf, tablesOf } from './submission.ts'
import type { Visibility } from './visibility.ts'
import { type WriterMetrics, writerMetrics } from './writer-metrics.ts'

/** Maximum rows of one request: a live bar waits for no more than the request under way. */
const rowsPerRequest = 20_000
/** Maximum rows that wait outside the queue, per lane; a further write fails at once and its collector retries it. */
const rowsOutsideMax = 300_000
const retryDelayMinMs = 100
const retryDelayMaxMs = 2_000

export interface WriterDeps {
  readonly options: QuestdbOptions
  readonly sender: SenderOptions
  readonly names: TableNames
  readonly check: ConnectionCheck
  readonly visibility: Visibility
  /** A table that was there is not there any more. */
  readonly tableGone: () => void
}

/**
 * The only writer: requests one after the other, each over as many connections as its tables have, live
 * before backfill; a caller hears when its rows can be read. What is refused for what it holds goes to
 * the sifter, and the others go on.
 */
export class Writer {
  readonly #deps: WriterDeps
  readonly #queue = new WriteQueue<EncodedRows>({
    rowsPerTake: rowsPerRequest,
    rowsOf: ({ ends }) => ends.length,
    rowsOutsideMax,
  })
  readonly #connections: Connections<RowSender>
  readonly #siftedPath: RowSender
  readonly #rejectedRows: RejectedRows
  readonly #acks: Acks
  readonly #metrics: WriterMetrics
  #pumping = false
  #closed = false

  constructor(deps: WriterDeps) {
    const { options, sender, check, visibility, tableGone } = deps
    this.#deps = deps
    this.#metrics = writerMetrics(options.metrics)
    this.#acks = new Acks({ clock: options.clock, visibility, metrics: this.#metrics, tableGone })
    const connect = (): RowSender => new RowSender(options, sender, check)
    this.#connections = new Connections(connect)
    this.#siftedPath = connect()
    const sifterDeps = { ...deps, metrics: this.#metrics }
    this.#rejectedRows = new RejectedRows(sifterDeps, this.#siftedPath)
    visibility.onReplaced = () => {
      for (const path of this.#allPaths()) path.renew()
    }
    this.#gauges()
  }

  /** Requests whose outcome is unknown so far; each may still arrive at the server, late. */
  get failures(): number {
    return this.#allPaths().reduce((sum, { failures }) => sum + failures, 0)
  }

  /** Throws when the server has not taken rows for too long, whatever else it answers. */
  refuseTrouble(): void {
    const ms = this.#troubleMs()
    if (ms > troubleMsMax)
      throw new Unavailable('store', new Error(`no rows were taken for ${Math.round(ms / 1_000)} s`))
  }

  /** Resolves once all rows are committed and readable, or parked; rejects with `Unavailable` within the deadline. */
  write(pieces: readonly EncodedRows[], lane: Lane, deadlineMs: number = writeDeadlineMs): Promise<void> {
    if (pieces.length === 0) return Promise.resolve()
    const submission = submissionOf(pieces, { lane, deadlineMs, clock: this.#deps.options.clock })
    submission.onSettled = () => {
      this.#queue.leave(submission)
      this.#pump()
    }
    if (this.#closed) submission.settle(new Error('the store is closed'))
    else this.#queue.enter(submission)
    this.#pump()
    return submission.done
  }

  /** Everything that waits fails; nothing more is sent. */
  close(): void {
    this.#closed = true
    this.#rejectedRows.close()
    for (const submission of this.#queue.all()) submission.settle(new Error('the store is closed'))
    for (const path of this.#allPaths()) path.close()
  }

  #troubleMs(): number {
    return Math.max(this.#rejectedRows.troubleMs, ...this.#allPaths().map(({ troubleMs }) => troubleMs))
  }

  #allPaths(): readonly RowSender[] {
    return [...this.#connections.all(), this.#siftedPath]
  }

  #pump(): void {
    if (this.#pumping || this.#closed) return
    this.#pumping = true
    this.#sendAll()
      .catch((cause: unknown) => this.#deps.options.log.error({ err: cause }, 'the writer of QuestDB failed'))
      .finally(() => {
        this.#pumping = false
        // Something may have come in after the last look.
        if (this.#queue.hasJobs) this.#pump()
      })
      .catch(() => undefined)
  }

  async #sendAll(): Promise<void> {
    const { clock } = this.#deps.options
    const retries = new Backoff(clock, { firstMs: retryDelayMinMs, maxMs: retryDelayMaxMs, jitter: 'none' })
    for (let pieces = this.#queue.take(); pieces.length > 0 && !this.#closed; pieces = this.#queue.take()) {
      const able = pieces.filter((piece) => !this.#deps.visibility.turnsAway(piece))
      if (able.length > 0) await this.#request(able, retries)
    }
  }

  /** Ends when all paths have, so that no path is asked for two things at once. */
  async #request(pieces: readonly Piece[], retries: Backoff): Promise<void> {
    const { clock } = this.#deps.options
    const begun = clock.monotonicMs()
    const since = this.#deps.visibility.replacements
    const stored: Piece[] = []
    const again = new Set<Piece>()
    let retryInMs: number | undefined
    const deliverOver = async (path: RowSender, own: readonly Piece[]): Promise<void> => {
      try {
        await path.send(Buffer.concat(own.map(({ work }) => work.bytes)))
        stored.push(...own)
      } catch (cause) {
        if (this.#closed) return
        if (cause instanceof PoisonRows) path.renew()
        else retryInMs ??= retries.nextMs()
        for (const piece of this.#keep(own, cause, retryInMs)) again.add(piece)
      }
    }
    const byPath = Map.groupBy(pieces, ({ work }) => this.#connections.of(work.table))
    await Promise.all([...byPath].map(([path, own]) => deliverOver(path, own)))
    if (stored.length > 0) this.#acks.committed(stored, begun, since)
    this.#queue.putBack(pieces.filter((piece) => again.has(piece)))
    if (retryInMs === undefined) retries.reset()
    else await clock.sleep(retryInMs)
  }

  /** Those of a failed request that go out again as they are. */
  #keep(pieces: readonly Piece[], cause: unknown, retryInMs: number | undefined): readonly Piece[] {
    this.#metrics.failures.inc()
    const { log } = this.#deps.options
    if (!(cause instanceof PoisonRows)) {
      const tables = tablesOf(pieces).size
      log.warn({ err: cause, tables, retryInMs }, 'QuestDB did not take rows')
      return pieces
    }
    const sifted = suspects(pieces, cause)
    log.warn({ err: cause, tables: [...tablesOf([...sifted])] }, 'QuestDB refused rows; they are sifted')
    this.#rejectedRows.take([...sifted], cause)
    return pieces.filter((piece) => !sifted.has(piece))
  }

  #gauges(): void {
    const { metrics } = this.#deps.options
    metrics.gauge('fxd_questdb_rows_waiting', 'Rows that wait or are being written.', ['lane'], (gauge) => {
      for (const lane of ['live', 'backfill'] as const) gauge.set({ lane }, this.#queue.rows(lane))
    })
    metrics.gauge('fxd_questdb_rows_sifted', 'Rows among which refused ones are looked for.', [], (gauge) =>
      gauge.set(this.#rejectedRows.rows),
    )
    metrics.gauge(
      'fxd_questdb_writes_failing_seconds',
      'For how long QuestDB has not taken rows that it was given.',
      [],
      (gauge) => gauge.set(this.#troubleMs() / 1_000),
    )
  }
}
