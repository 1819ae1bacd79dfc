import type { SenderOptions } from '@questdb/nodejs-client'
import { Unavailable } from '../../../core/failure.ts'
import type { Lane } from '../../../core/series.ts'
import { type Counter, type Histogram, secondsBuckets } from '../../../platform/metrics.ts'
import type { TableNames } from '../layout/tables.ts'
import type { QuestdbOptions } from '../options.ts'
import type { Gate } from '../server/gate.ts'
import { Line, type Piece, type Submission } from './line.ts'
import { parkedRows, type RefusedRow } from './park.ts'
import { Paths } from './paths.ts'
import type { Resumption } from './resumption.ts'
import { type EncodedRows, rowBytes } from './rows.ts'
import { PoisonRows, RowSender } from './sender.ts'
import { suspendedError, type Visibility } from './visibility.ts'

export const writeDeadlineMs = 30_000
const retryDelayMinMs = 100
const retryDelayMaxMs = 2_000
/** Rows of one request over one connection that are parked; with more it fails: something else is wrong than some rows. */
const parkedPerRequestMax = 32

export interface WriterDeps {
  readonly options: QuestdbOptions
  readonly sender: SenderOptions
  readonly names: TableNames
  readonly gate: Gate
  readonly visibility: Visibility
  readonly resumption: Resumption
  /** A table that was there is not there any more. */
  readonly tableGone: () => void
}

interface Slice {
  readonly rows: EncodedRows
  readonly from: number
  readonly to: number
}

/**
 * The one way in: requests one after the other, each over as many connections as its tables have, live
 * before backfill; a caller hears when its rows can be read.
 */
export class Writer {
  readonly #deps: WriterDeps
  readonly #line = new Line()
  readonly #paths: Paths<RowSender>
  readonly #metrics: ReturnType<typeof writerMetrics>
  #failed = 0
  #pumping = false
  #closed = false
  #retryDelayMs = retryDelayMinMs

  constructor(deps: WriterDeps) {
    this.#deps = deps
    this.#paths = new Paths(() => new RowSender(deps.options, deps.sender, deps.gate))
    this.#metrics = writerMetrics(deps.options, this.#line)
    deps.visibility.onReplaced = () => {
      for (const path of this.#paths.all()) path.renew()
    }
  }

  /** Requests that failed so far; each may still arrive at the server, late. */
  get failures(): number {
    return this.#failed
  }

  /** Resolves once all rows are committed and readable; rejects with `Unavailable` within the deadline. */
  write(pieces: readonly EncodedRows[], lane: Lane, deadlineMs: number = writeDeadlineMs): Promise<void> {
    if (pieces.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const rows = pieces.reduce((sum, { ends }) => sum + ends.length, 0)
      const settle = (cause?: unknown): void => {
        if (submission.settled) return
        submission.settled = true
        cancelDeadline()
        this.#line.leave(submission)
        if (cause === undefined) resolve()
        else reject(cause instanceof Unavailable ? cause : new Unavailable('store', cause))
        this.#pump()
      }
      const submission: Submission = { lane, rows, pieces, left: pieces.length, settled: false, settle }
      const late = new Error(`not written within ${Math.round(deadlineMs)} ms`)
      const cancelDeadline = this.#deps.options.clock.after(deadlineMs, () => settle(late))
      if (this.#closed) return settle(new Error('the store is closed'))
      this.#line.enter(submission)
      this.#pump()
    })
  }

  /** Everything that waits fails; nothing more is sent. */
  close(): void {
    this.#closed = true
    for (const submission of this.#line.all()) submission.settle(new Error('the store is closed'))
    for (const path of this.#paths.all()) path.close()
  }

  #pump(): void {
    if (this.#pumping || this.#closed) return
    this.#pumping = true
    this.#sendAll()
      .catch((cause: unknown) => this.#deps.options.log.error({ err: cause }, 'the writer of QuestDB failed'))
      .finally(() => {
        this.#pumping = false
        // Something may have come in after the last look.
        if (this.#line.waits) this.#pump()
      })
      .catch(() => undefined)
  }

  async #sendAll(): Promise<void> {
    for (let pieces = this.#line.take(); pieces.length > 0 && !this.#closed; pieces = this.#line.take()) {
      const able = pieces.filter((piece) => !this.#failSuspended(piece))
      if (able.length > 0) await this.#request(able)
    }
  }

  /** A suspended table would take the rows, show nothing and grow: its writers are told at once. */
  #failSuspended({ submission, rows }: Piece): boolean {
    const { visibility, resumption } = this.#deps
    const isSuspended = visibility.suspended.has(rows.table)
    if (isSuspended) {
      resumption.wanted(rows.table)
      submission.settle(suspendedError(rows.table))
    } else resumption.forget(rows.table)
    return isSuspended
  }

  /** Ends when all paths have: the next request's rows of a table must not overtake this one's. */
  async #request(pieces: readonly Piece[]): Promise<void> {
    const { clock } = this.#deps.options
    const begun = clock.monotonicMs()
    const since = this.#deps.visibility.replacements
    const stored: Piece[] = []
    const again = new Set<Piece>()
    const deliverOver = async (path: RowSender, own: readonly Piece[]): Promise<void> => {
      try {
        const slices = own.map(({ rows }) => ({ rows, from: 0, to: rows.ends.length }))
        const refused: RefusedRow[] = []
        await this.#deliver(path, slices, refused)
        if (refused.length > 0) await this.#park(path, refused)
        stored.push(...own)
      } catch (cause) {
        if (this.#closed) return
        if (this.#isWorthAnother(own, cause)) for (const piece of own) again.add(piece)
      }
    }
    const byPath = Map.groupBy(pieces, ({ rows }) => this.#paths.of(rows.table))
    await Promise.all([...byPath].map(([path, own]) => deliverOver(path, own)))
    if (stored.length > 0) this.#stored(stored, begun, since)
    if (again.size === 0) {
      this.#retryDelayMs = retryDelayMinMs
      return
    }
    this.#line.putBack(pieces.filter((piece) => again.has(piece)))
    await clock.sleep(this.#retryDelayMs)
    this.#retryDelayMs = Math.min(retryDelayMaxMs, this.#retryDelayMs * 2)
  }

  /** What the server refused for what it holds fails at once. */
  #isWorthAnother(pieces: readonly Piece[], cause: unknown): boolean {
    this.#failed += 1
    this.#metrics.failures.inc()
    if (cause instanceof PoisonRows) {
      this.#deps.tableGone()
      this.#deps.options.log.error(
        { err: cause, tables: [...tablesOf(pieces)] },
        'QuestDB refuses rows, and it is not their fault: its tables are not those of this fxd',
      )
      for (const { submission } of pieces) submission.settle(cause)
      return false
    }
    const tables = tablesOf(pieces)
    this.#deps.options.log.warn(
      { err: cause, tables: tables.size, retryInMs: this.#retryDelayMs },
      'QuestDB did not take rows',
    )
    return true
  }

  /** The next request does not wait until these can be read. */
  #stored(pieces: readonly Piece[], begun: number, since: number): void {
    const { clock } = this.#deps.options
    this.#metrics.ack.observe((clock.monotonicMs() - begun) / 1_000)
    this.#deps.visibility.wait(tablesOf(pieces), since).then(
      () => {
        this.#metrics.visible.observe((clock.monotonicMs() - begun) / 1_000)
        for (const { submission } of pieces) if (--submission.left === 0) submission.settle()
      },
      (cause: unknown) => this.#notVisible(pieces, cause, since),
    )
  }

  /** Of a request that touched several tables only what went into the unreadable ones has failed. */
  #notVisible(pieces: readonly Piece[], cause: unknown, since: number): void {
    this.#deps.tableGone()
    for (const { submission, rows } of pieces) {
      this.#deps.visibility.wait([rows.table], since).then(
        () => {
          if (--submission.left === 0) submission.settle()
        },
        (own: unknown) => submission.settle(own ?? cause),
      )
    }
  }

  /**
   * Sends slices together; when the server refuses them for what they hold, in halves down to the row.
   * Adds the rows that it refuses to `refused`; rejects when they are too many to be the rows' own fault.
   */
  async #deliver(path: RowSender, slices: readonly Slice[], refused: RefusedRow[]): Promise<void> {
    try {
      await path.send(Buffer.concat(slices.map(({ rows, from, to }) => rowBytes(rows, from, to))))
    } catch (cause) {
      if (!(cause instanceof PoisonRows) || isOfSchema(cause)) throw cause
      const halves = halve(slices)
      if (halves !== undefined) {
        for (const half of halves) await this.#deliver(path, half, refused)
        return
      }
      if (refused.length >= parkedPerRequestMax)
        throw new PoisonRows(`more than ${parkedPerRequestMax} rows were refused`, { cause })
      for (const { rows, from, to } of slices)
        refused.push({ line: rowBytes(rows, from, to), reason: cause.message })
    }
  }

  async #park(path: RowSender, refused: readonly RefusedRow[]): Promise<void> {
    const { options, sender, names, visibility } = this.#deps
    const parked = parkedRows(refused, { options, sender, names })
    await path.send(parked.bytes)
    await visibility.wait([parked.table])
    this.#metrics.parked.inc(refused.length)
    const [{ reason } = { reason: '' }] = refused
    options.log.error(
      { rows: refused.length, reason, table: names.parked },
      'QuestDB refused rows; they are parked',
    )
  }
}

const tablesOf = (pieces: readonly Piece[]): ReadonlySet<string> =>
  new Set(pieces.map(({ rows }) => rows.table))

/** A table or a column is missing: no row is at fault. */
const isOfSchema = ({ message }: PoisonRows): boolean => /does not exist/.test(message)

function halve(slices: readonly Slice[]): readonly (readonly Slice[])[] | undefined {
  if (slices.length > 1) {
    const middle = slices.length >>> 1
    return [slices.slice(0, middle), slices.slice(middle)]
  }
  const [only] = slices
  if (only === undefined || only.to - only.from <= 1) return undefined
  const middle = (only.from + only.to) >>> 1
  return [[{ ...only, to: middle }], [{ ...only, from: middle }]]
}

function writerMetrics({ metrics }: QuestdbOptions, line: Line) {
  const failures: Counter = metrics.counter(
    'fxd_questdb_write_failures_total',
    'Requests with rows that failed.',
  )
  const parked: Counter = metrics.counter(
    'fxd_questdb_parked_rows_total',
    'Rows that QuestDB refused although ingest let them pass: a defect.',
  )
  const ack: Histogram = metrics.histogram(
    'fxd_questdb_commit_seconds',
    'From sending rows to their commit.',
    secondsBuckets,
  )
  const visible: Histogram = metrics.histogram(
    'fxd_questdb_visible_seconds',
    'From sending rows until they can be read.',
    secondsBuckets,
  )
  metrics.gauge('fxd_questdb_rows_waiting', 'Rows that wait or are being written.', ['lane'], (gauge) => {
    for (const lane of ['live', 'backfill'] as const) gauge.set({ lane }, line.rows(lane))
  })
  return { failures, parked, ack, visible }
}
