import { Unavailable } from '../../../core/failure.ts'
import type { Cancel, Clock } from '../../../ports/clock.ts'
import type { TableRecords } from '../layout/table-records.ts'
import { readTableStates, type StateDeps, type TableState } from './table-states.ts'

/** Bounds of the pause between two queries. */
const pauseMinMs = 4
const pauseMaxMs = 50
/** Pauses per wait, if the rows become readable as fast as those of the last measured commit. */
const pausesPerWait = 2
/** Deadline of a wait, also while the server is unavailable. */
export const visibleDeadlineMs = 30_000
/** Suspended, missing and replaced tables are noticed within this time even when no rows are written. */
const watchPeriodMs = 2_000

interface Waiter {
  readonly sinceMs: number
  /** A table that was replaced after this count does not contain the rows that were sent. */
  readonly replacements: number
  /** The transaction that must be applied, per table; `undefined` until the first query after the commit. */
  readonly targets: Map<string, number | undefined>
  /** The server remembers commits of rows only: commits of a statement are read from the files. */
  readonly isOfStatement: boolean
  /** Called after each query after the commit, unless a table was replaced or is suspended. */
  readonly onUnchanged: () => void
  readonly settle: (cause?: unknown) => void
}

interface VisibilityDeps extends StateDeps {
  readonly clock: Clock
  readonly records: TableRecords
}

/**
 * Resolves when committed rows are readable: QuestDB acknowledges a commit before it is applied. It also tracks
 * suspended tables, which acknowledge rows and do not show them, and tables that are missing or were replaced.
 */
export class Visibility {
  readonly #deps: VisibilityDeps
  readonly #waiters = new Set<Waiter>()
  readonly #cancelWatch: Cancel
  readonly #ids = new Map<string, number>()
  /** The number of its replacement, for each table that was replaced. */
  readonly #replaced = new Map<string, number>()
  #replacements = 0
  #suspended: ReadonlySet<string> = new Set()
  /** Milliseconds from the last measured commit to the query that showed its rows. */
  #readableMs = 0
  #endPause: () => void = () => undefined
  /** Whether a waiter was added after the last query began. */
  #isNew = false
  #checking: Promise<void> | undefined
  #polling = false
  #closed = false

  /** Called with all suspended tables after each query. */
  onSuspended: (tables: ReadonlySet<string>) => void = () => undefined
  onResumed: () => void = () => undefined
  /** Called when a table was removed and created again. */
  onReplaced: () => void = () => undefined

  constructor(deps: VisibilityDeps) {
    const { clock, records } = deps
    this.#deps = deps
    const watch = async (): Promise<void> => {
      await records.read()
      await this.#look()
    }
    this.#cancelWatch = clock.every(watchPeriodMs, () => void watch().catch(() => undefined))
  }

  /** As of the last query. */
  get suspended(): ReadonlySet<string> {
    return this.#suspended
  }

  /** Why a table could not be written at the last query. A suspended one would accept rows, show none and grow. */
  errorOf(table: string): Error | undefined {
    return this.#suspended.has(table) ? suspendedError(table) : this.#deps.records.errorOf(table)
  }

  /** Replacements seen so far: read it before sending rows, and pass it to `wait` after their commit. */
  get replacements(): number {
    return this.#replacements
  }

  /**
   * Resolves once all commits to these tables before this call are readable. Rejects when one of them was replaced
   * after this number of `replacements`: a connection that knew the old table acknowledges commits to it. Rejects with
   * `Unavailable` within `visibleDeadlineMs`. Calls `onUnchanged` earlier, once or more, as soon as a query shows that
   * no table was replaced.
   */
  wait(
    tables: Iterable<string>,
    replacements: number = this.#replacements,
    onUnchanged: () => void = () => undefined,
  ): Promise<void> {
    return this.#wait(tables, { replacements, onUnchanged, isOfStatement: false })
  }

  /** As `wait`, after SQL statements such as TRUNCATE: `tables()` does not show their commits until they are applied. */
  waitForStatements(tables: Iterable<string>): Promise<void> {
    const replacements = this.#replacements
    return this.#wait(tables, { replacements, onUnchanged: () => undefined, isOfStatement: true })
  }

  #wait(
    tables: Iterable<string>,
    options: Pick<Waiter, 'replacements' | 'onUnchanged' | 'isOfStatement'>,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        ...options,
        sinceMs: this.#deps.clock.monotonicMs(),
        targets: new Map([...tables].map((table) => [table, undefined])),
        settle: (cause) => {
          this.#waiters.delete(waiter)
          cancelDeadline()
          if (cause === undefined) resolve()
          else reject(new Unavailable('store', cause))
        },
      }
      const late = new Error(`not readable within ${visibleDeadlineMs} ms`)
      const cancelDeadline = this.#deps.clock.after(visibleDeadlineMs, () => waiter.settle(late))
      if (this.#closed) return waiter.settle(new Error('the store is closed'))
      this.#waiters.add(waiter)
      this.#isNew = true
      this.#endPause()
      this.#poll()
    })
  }

  /** Rejects when a table is suspended or out of order, or the store does not answer. Concurrent calls share one query. */
  async check(): Promise<void> {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = undefined
    })
    await this.#checking
    for (const table of this.#suspended) throw new Unavailable('store', suspendedError(table))
    for (const table of this.#deps.records.outOfOrder.keys()) this.#deps.records.refuse(table)
  }

  close(): void {
    this.#closed = true
    this.#cancelWatch()
    for (const waiter of this.#waiters) waiter.settle(new Error('the store is closed'))
  }

  #poll(): void {
    if (this.#polling || this.#closed || this.#waiters.size === 0) return
    this.#polling = true
    this.#look()
      .then(
        () => (this.#isNew ? undefined : this.#pause(this.#readableMs / pausesPerWait)),
        // The store is unavailable for a moment; each waiter has a deadline.
        () => this.#pause(pauseMaxMs),
      )
      .finally(() => {
        this.#polling = false
        this.#poll()
      })
      .catch(() => undefined)
  }

  /** Ends early when rows were committed: one query after their commit shows whether a table was replaced. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const bounded = Math.min(pauseMaxMs, Math.max(pauseMinMs, ms))
      const cancel = this.#deps.clock.after(bounded, resolve)
      this.#endPause = () => {
        cancel()
        resolve()
      }
    })
  }

  async #look(): Promise<void> {
    // Only waiters that existed before the query may use its answer as their target.
    const asking = [...this.#waiters]
    this.#isNew = false
    const tablesOf = (waiters: readonly Waiter[]): ReadonlySet<string> =>
      new Set(waiters.flatMap(({ targets }) => [...targets.keys()]))
    const changed = tablesOf(asking.filter(({ isOfStatement }) => isOfStatement))
    const states = await readTableStates(this.#deps, { wanted: tablesOf(asking), changed })
    this.#noteReplaced(states)
    await this.#deps.records.compare(new Map([...states].map(([table, { id }]) => [table, id])))
    const before = this.#suspended
    this.#suspended = new Set([...states].flatMap(([table, { suspended }]) => (suspended ? [table] : [])))
    this.onSuspended(this.#suspended)
    if (!before.isSubsetOf(this.#suspended)) this.onResumed()
    for (const waiter of asking) this.#advance(waiter, states)
  }

  #noteReplaced(states: ReadonlyMap<string, TableState>): void {
    const before = this.#replacements
    for (const [table, { id }] of states) {
      const known = this.#ids.get(table)
      if (known !== undefined && known !== id) this.#replaced.set(table, ++this.#replacements)
      this.#ids.set(table, id)
    }
    if (this.#replacements > before) this.onReplaced()
  }

  #advance(waiter: Waiter, states: ReadonlyMap<string, TableState>): void {
    for (const [table, target] of waiter.targets) {
      const state = states.get(table)
      if (state === undefined) return waiter.settle(new Error(`the table ${table} is gone`))
      if ((this.#replaced.get(table) ?? 0) > waiter.replacements)
        return waiter.settle(new Error(`the table ${table} was removed and made again`))
      if (state.suspended) return waiter.settle(suspendedError(table))
      const wanted = target ?? state.committed
      // While the number is unknown, the rows count as not readable.
      if (Number.isNaN(wanted)) continue
      if (state.applied >= wanted) waiter.targets.delete(table)
      else waiter.targets.set(table, wanted)
    }
    waiter.onUnchanged()
    if (waiter.targets.size > 0) return
    this.#readableMs = this.#deps.clock.monotonicMs() - waiter.sinceMs
    waiter.settle()
  }
}

const suspendedError = (table: string): Error =>
  new Error(`the table ${table} is suspended: see "fxd doctor"`)
