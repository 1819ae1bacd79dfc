import { Unavailable } from '../../../core/failure.ts'
import type { Cancel } from '../../../ports/clock.ts'
import type { QuestdbOptions } from '../options.ts'
import { type Gate, openGate } from '../server/gate.ts'
import { ConnectionLost, PgConnection, SqlError, type Statement, type TakeRow } from './connection.ts'

/** QuestDB takes 64 by default, and the 65th waits without a word. */
export const connectionsMax = 16
export const backfillConnectionsMax = 4
/** The last one tells what became of writes. */
export const connectionsPerProcess = connectionsMax + backfillConnectionsMax + 1
export const readDeadlineMs = 2_000
/** Comparing history with what is stored: longer, because its failure ends the collector's session. */
export const backfillReadDeadlineMs = 15_000
/** Reads that wait for a connection; one more is refused, since it would hardly be answered in time. */
export const readsWaitingMax = 1_024

type PoolOptions = Pick<QuestdbOptions, 'pg' | 'credentials' | 'clock'>

interface Waiting {
  readonly start: (connection: PgConnection) => void
  readonly fail: (cause: Error) => void
}

export interface PoolSize {
  readonly connections: number
  readonly waiting: number
  /** Of a read, and of opening a connection for it; 2 s when not given. */
  readonly deadlineMs?: number
  /** A read beyond its deadline says that the server may be gone; a history may just be cold. */
  readonly lateIsLost?: boolean
}

/** Shares a bounded number of connections in the order of asking; every call ends within its deadline. */
export class PgPool {
  readonly #options: PoolOptions
  readonly #size: PoolSize
  readonly #deadlineMs: number
  readonly #gate: Gate
  readonly #idle: PgConnection[] = []
  readonly #all = new Set<PgConnection>()
  readonly #ready = new Set<PgConnection>()
  readonly #line = new Set<Waiting>()
  readonly #givenUp = new WeakSet<PgConnection>()
  #closed = false

  constructor(
    options: PoolOptions,
    size: PoolSize = { connections: connectionsMax, waiting: readsWaitingMax },
    gate: Gate = openGate,
  ) {
    this.#options = options
    this.#gate = gate
    this.#size = size
    this.#deadlineMs = size.deadlineMs ?? readDeadlineMs
  }

  get connections(): number {
    return this.#all.size
  }

  get waiting(): number {
    return this.#line.size
  }

  /**
   * Rejects with `Unavailable`. `begin` is called anew for each attempt: a connection that the server
   * ended meanwhile is tried once more on a fresh one.
   */
  async read(statement: Statement, begin: () => TakeRow, deadlineMs = this.#deadlineMs): Promise<void> {
    const end = this.#options.clock.monotonicMs() + deadlineMs
    try {
      await this.#attempt(statement, begin(), deadlineMs)
    } catch (cause) {
      const leftMs = end - this.#options.clock.monotonicMs()
      if (!(cause instanceof ConnectionLost) || this.#closed || leftMs <= 0) throw unavailable(cause)
      await this.#attempt(statement, begin(), leftMs).catch((again: unknown) => {
        throw unavailable(again)
      })
    }
  }

  close(): void {
    this.#closed = true
    for (const waiting of this.#line) waiting.fail(new Unavailable('store', new Error('the store is closed')))
    for (const connection of this.#all) connection.destroy()
  }

  #attempt(statement: Statement, takeRow: TakeRow, deadlineMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let used: PgConnection | undefined
      const settle = (act: () => void): void => {
        cancelDeadline()
        this.#line.delete(waiting)
        act()
      }
      const fail = (cause: Error): void => settle(() => reject(cause))
      const start = (connection: PgConnection): void => {
        used = connection
        connection
          .run(statement, takeRow)
          .then(() => settle(resolve), fail)
          .finally(() => this.#free(connection))
      }
      const waiting: Waiting = { start, fail }
      const cancelDeadline: Cancel = this.#options.clock.after(deadlineMs, () => {
        fail(new Unavailable('store', new Error(`not read within ${Math.round(deadlineMs)} ms`)))
        if (used === undefined) return
        if (this.#size.lateIsLost !== true) this.#givenUp.add(used)
        used.destroy()
      })
      if (this.#closed) return fail(new Unavailable('store', new Error('the store is closed')))
      if (this.#line.size >= this.#size.waiting)
        return fail(new Unavailable('store', new Error(`${this.#size.waiting} reads wait already`)))
      this.#line.add(waiting)
      this.#next()
    })
  }

  #next(): void {
    for (const waiting of this.#line) {
      const connection = this.#idle.pop()
      if (connection !== undefined) {
        this.#line.delete(waiting)
        waiting.start(connection)
      } else {
        const opening = this.#all.size - this.#ready.size
        if (opening < this.#line.size && this.#all.size < this.#size.connections) this.#open()
        return
      }
    }
  }

  /** A connection that cannot be had within a read's time fails the first in line, whose time is over. */
  #open(): void {
    const { pg, credentials, clock } = this.#options
    const giveUp = (): void => {
      this.#givenUp.add(opened.connection)
      opened.connection.destroy()
    }
    const opened = PgConnection.open(pg, credentials, () => {
      this.#all.delete(opened.connection)
      this.#ready.delete(opened.connection)
      const index = this.#idle.indexOf(opened.connection)
      if (index >= 0) this.#idle.splice(index, 1)
      // What we gave up tells nothing of the server.
      if (!this.#givenUp.has(opened.connection)) this.#gate.lost()
      if (!this.#closed) clock.soon(() => this.#next())
    })
    this.#all.add(opened.connection)
    const cancel = clock.after(this.#deadlineMs, giveUp)
    opened.ready
      .then(() => this.#gate.pass())
      .then(
        () => {
          if (opened.connection.usable) this.#ready.add(opened.connection)
          this.#free(opened.connection)
        },
        (cause: unknown) => {
          const [first] = this.#line
          first?.fail(unavailable(cause))
          giveUp()
        },
      )
      .finally(cancel)
  }

  #free(connection: PgConnection): void {
    if (connection.usable) this.#idle.push(connection)
    this.#next()
  }
}

const unavailable = (cause: unknown): Unavailable =>
  cause instanceof Unavailable ? cause : new Unavailable('store', cause)

/** The server says that a table is not there: it was removed since it was listed. */
export const isTableMissing = (cause: unknown): boolean =>
  cause instanceof Unavailable &&
  cause.cause instanceof SqlError &&
  /table does not exist/.test(cause.cause.message)
