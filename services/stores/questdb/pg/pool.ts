import { Unavailable } from '../../../core/failure.ts'
import { type Reader, serviceReader } from '../../../core/fair-queue.ts'
import { ReadTurns, readDeadlineMs } from '../../../platform/read-turns.ts'
import type { QuestdbOptions } from '../options.ts'
import { ConnectionLost, PgConnection, SqlError, type Statement, type TakeRow } from './connection.ts'
import { type ConnectionCheck, noConnectionCheck } from './connection-check.ts'

type PoolOptions = Pick<QuestdbOptions, 'pg' | 'credentials' | 'clock'>

interface PoolSize {
  readonly connections: number
  /** Maximum reads of one key that wait for a connection. */
  readonly waiting: number
  /** Deadline of a read; 2 s by default. */
  readonly deadlineMs?: number
  /** Deadline of opening a connection; by default that of a read. */
  readonly openMs?: number
  /** Whether a read that times out means that the server may be lost. A read of history may only be slow. */
  readonly lateIsLost?: boolean
}

export interface ReadOptions {
  readonly deadlineMs?: number
  /** Keys of readers take turns. Without a reader the read belongs to the store itself. */
  readonly reader?: Reader | undefined
  readonly isShort?: boolean
}

type Reading = Pick<Required<ReadOptions>, 'deadlineMs' | 'isShort'> & { readonly reader: Reader }

/** Shares a bounded number of connections: keys take turns. Every call ends within its deadline. */
export class PgPool {
  readonly #options: PoolOptions
  readonly #size: PoolSize
  readonly deadlineMs: number
  readonly #check: ConnectionCheck
  readonly #idle: PgConnection[] = []
  readonly #all = new Set<PgConnection>()
  readonly #ready = new Set<PgConnection>()
  readonly #turns: ReadTurns<PgConnection>
  readonly #givenUp = new WeakSet<PgConnection>()
  #closed = false

  constructor(options: PoolOptions, size: PoolSize, check: ConnectionCheck = noConnectionCheck) {
    this.#options = options
    this.#check = check
    this.#size = size
    this.deadlineMs = size.deadlineMs ?? readDeadlineMs
    this.#turns = new ReadTurns(options.clock, size.waiting, (connection) => {
      if (size.lateIsLost !== true) this.#givenUp.add(connection)
      connection.destroy()
    })
  }

  get connections(): number {
    return this.#all.size
  }

  get waiting(): number {
    return this.#turns.waiting
  }

  /** Reads that were rejected while they waited for a connection. */
  get refused(): number {
    return this.#turns.refused
  }

  /**
   * Rejects with `Unavailable`, or with `Overloaded` when other reads of the same key delayed it. When the server
   * ended the connection, the read is retried once on a new connection; `begin` is called for each attempt.
   */
  async read(
    statement: Statement,
    begin: () => TakeRow,
    { deadlineMs = this.deadlineMs, reader = serviceReader('store'), isShort = false }: ReadOptions = {},
  ): Promise<void> {
    const end = this.#options.clock.monotonicMs() + deadlineMs
    try {
      await this.#attempt(statement, begin(), { deadlineMs, reader, isShort })
    } catch (cause) {
      const leftMs = end - this.#options.clock.monotonicMs()
      if (!(cause instanceof ConnectionLost) || this.#closed || leftMs <= 0) throw unavailable(cause)
      await this.#attempt(statement, begin(), { deadlineMs: leftMs, reader, isShort }).catch(
        (again: unknown) => {
          throw unavailable(again)
        },
      )
    }
  }

  /** Closes all connections, so that the server is checked before the next read. */
  renew(): void {
    for (const connection of this.#all) connection.destroy()
  }

  close(): void {
    this.#closed = true
    this.#turns.refuseAll('the store is closed')
    for (const connection of this.#all) connection.destroy()
  }

  #attempt(statement: Statement, takeRow: TakeRow, reading: Reading): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('the store is closed'))
    const attempt = this.#turns.add(reading, (connection) =>
      connection.run(statement, takeRow).finally(() => this.#free(connection)),
    )
    this.#next()
    return attempt
  }

  #next(): void {
    while (this.#turns.waiting > 0) {
      const connection = this.#idle.pop()
      if (connection === undefined) {
        const opening = this.#all.size - this.#ready.size
        if (opening < this.#turns.waiting && this.#all.size < this.#size.connections) this.#open()
        return
      }
      if (!this.#turns.serve(connection)) this.#idle.push(connection)
    }
  }

  /** When no connection opens within its deadline, the next read in order fails. */
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
      // A connection that this process gave up says nothing about the server.
      if (!this.#givenUp.has(opened.connection)) this.#check.lost()
      if (!this.#closed) clock.soon(() => this.#next())
    })
    this.#all.add(opened.connection)
    const cancel = clock.after(this.#size.openMs ?? this.deadlineMs, giveUp)
    opened.ready
      .then(() => this.#check.pass())
      .then(
        () => {
          if (opened.connection.usable) this.#ready.add(opened.connection)
          this.#free(opened.connection)
        },
        (cause: unknown) => {
          this.#turns.failNext(unavailable(cause))
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

export const unavailable = (cause: unknown): Unavailable =>
  cause instanceof Unavailable ? cause : new Unavailable('store', cause)

/** Whether the server reports a missing table: it was removed after it was listed. */
export const isTableMissing = (cause: unknown): boolean =>
  cause instanceof Unavailable &&
  cause.cause instanceof SqlError &&
  /table does not exist/.test(cause.cause.message)
