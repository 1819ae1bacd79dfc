import { Overloaded, Unavailable } from '../../../core/failure.ts'
import { FairQueue, type Reader, serviceReader, waitingShare } from '../../../core/fair-queue.ts'
import type { Cancel } from '../../../ports/clock.ts'
import type { QuestdbOptions } from '../options.ts'
import { ConnectionLost, PgConnection, SqlError, type Statement, type TakeRow } from './connection.ts'
import { type ConnectionCheck, noConnectionCheck } from './connection-check.ts'

export const readDeadlineMs = 2_000
/**
 * Deadline of reads that no client waits for, such as those of ingest. It is longer because a failure ends a
 * collector's session.
 */
export const patientReadDeadlineMs = 15_000
/** Maximum reads of one key that wait for a connection. */
export const readsWaitingMax = 1_024

type PoolOptions = Pick<QuestdbOptions, 'pg' | 'credentials' | 'clock'>

interface Waiting {
  readonly reader: Reader
  readonly start: (connection: PgConnection, turnsBefore: number) => void
  readonly fail: (cause: Error) => void
}

export interface PoolSize {
  readonly connections: number
  /** Maximum reads of one key that wait for a connection. */
  readonly waiting: number
  /** Deadline of a read, and of opening a connection for it; 2 s by default. */
  readonly deadlineMs?: number
  /** Whether a read that times out means that the server may be lost. A read of history may only be slow. */
  readonly lateIsLost?: boolean
}

export interface ReadOptions {
  readonly deadlineMs?: number
  /** Keys of readers take turns. Without a reader the read belongs to the store itself. */
  readonly reader?: Reader | undefined
}

/** Shares a bounded number of connections: keys take turns. Every call ends within its deadline. */
export class PgPool {
  readonly #options: PoolOptions
  readonly #size: PoolSize
  /** Default deadline of a read, and deadline of opening a connection for it. */
  readonly deadlineMs: number
  readonly #check: ConnectionCheck
  readonly #idle: PgConnection[] = []
  readonly #all = new Set<PgConnection>()
  readonly #ready = new Set<PgConnection>()
  readonly #turns: FairQueue<Waiting>
  readonly #givenUp = new WeakSet<PgConnection>()
  #closed = false
  #refused = 0

  constructor(options: PoolOptions, size: PoolSize, check: ConnectionCheck = noConnectionCheck) {
    this.#options = options
    this.#check = check
    this.#size = size
    this.deadlineMs = size.deadlineMs ?? readDeadlineMs
    this.#turns = new FairQueue(size.waiting)
  }

  get connections(): number {
    return this.#all.size
  }

  get waiting(): number {
    return this.#turns.size
  }

  /** Reads that were rejected while they waited for a connection. */
  get refused(): number {
    return this.#refused
  }

  /**
   * Rejects with `Unavailable`, or with `Overloaded` when other reads of the same key delayed it. When the server
   * ended the connection, the read is retried once on a new connection; `begin` is called for each attempt.
   */
  async read(
    statement: Statement,
    begin: () => TakeRow,
    { deadlineMs = this.deadlineMs, reader = serviceReader('store') }: ReadOptions = {},
  ): Promise<void> {
    const end = this.#options.clock.monotonicMs() + deadlineMs
    try {
      await this.#attempt(statement, begin(), deadlineMs, reader)
    } catch (cause) {
      const leftMs = end - this.#options.clock.monotonicMs()
      if (!(cause instanceof ConnectionLost) || this.#closed || leftMs <= 0) throw unavailable(cause)
      await this.#attempt(statement, begin(), leftMs, reader).catch((again: unknown) => {
        throw unavailable(again)
      })
    }
  }

  close(): void {
    this.#closed = true
    for (let waiting = this.#turns.drop(); waiting !== undefined; waiting = this.#turns.drop())
      waiting.fail(unread('the store is closed'))
    for (const connection of this.#all) connection.destroy()
  }

  #attempt(statement: Statement, takeRow: TakeRow, deadlineMs: number, reader: Reader): Promise<void> {
    return new Promise((resolve, reject) => {
      const endMs = this.#options.clock.monotonicMs() + deadlineMs
      const settle = (act: () => void): void => {
        cancelDeadline()
        act()
      }
      const fail = (cause: Error): void => settle(() => reject(cause))
      const giveUp = (connection: PgConnection, turnsBefore: number): void => {
        fail(late(deadlineMs, turnsBefore > 0))
        if (this.#size.lateIsLost !== true) this.#givenUp.add(connection)
        connection.destroy()
      }
      const start = (connection: PgConnection, turnsBefore: number): void => {
        cancelDeadline()
        const leftMs = endMs - this.#options.clock.monotonicMs()
        cancelDeadline = this.#options.clock.after(leftMs, () => giveUp(connection, turnsBefore))
        connection
          .run(statement, takeRow)
          .then(() => settle(resolve), fail)
          .finally(() => this.#free(connection))
      }
      const waiting: Waiting = { reader, start, fail }
      const turnMs = deadlineMs * waitingShare
      let cancelDeadline: Cancel = this.#options.clock.after(turnMs, () => this.#leave(waiting, turnMs))
      if (this.#closed) return fail(unread('the store is closed'))
      this.#refuse(this.#turns.add(waiting), overloaded(`${this.#size.waiting} reads wait already`))
      this.#next()
    })
  }

  #leave(waiting: Waiting, waitedMs: number): void {
    const cause = late(waitedMs, this.#turns.hasTurns(waiting))
    this.#turns.delete(waiting)
    this.#refuse(waiting, cause)
  }

  #refuse(waiting: Waiting | undefined, cause: Unavailable): void {
    if (waiting === undefined) return
    this.#refused += 1
    waiting.fail(cause)
  }

  #next(): void {
    while (this.#turns.size > 0) {
      const connection = this.#idle.pop()
      if (connection === undefined) {
        const opening = this.#all.size - this.#ready.size
        if (opening < this.#turns.size && this.#all.size < this.#size.connections) this.#open()
        return
      }
      const turn = this.#turns.take()
      if (turn?.next.reader.isGone) {
        this.#idle.push(connection)
        turn.next.fail(unread('its reader is gone'))
      } else turn?.next.start(connection, turn.turnsBefore)
    }
  }

  /** When no connection opens within the deadline of a read, the next read in order fails. */
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
    const cancel = clock.after(this.deadlineMs, giveUp)
    opened.ready
      .then(() => this.#check.pass())
      .then(
        () => {
          if (opened.connection.usable) this.#ready.add(opened.connection)
          this.#free(opened.connection)
        },
        (cause: unknown) => {
          this.#turns.drop()?.fail(unavailable(cause))
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

const overloaded = (reason: string): Overloaded => new Overloaded('store', new Error(reason))
const unread = (reason: string): Unavailable => new Unavailable('store', new Error(reason))

/** `behindOwn`: other reads of its key were done while it waited. */
const late = (ms: number, behindOwn: boolean): Unavailable => {
  const reason = `not read within ${Math.round(ms)} ms`
  return behindOwn ? overloaded(reason) : unread(reason)
}

const unavailable = (cause: unknown): Unavailable =>
  cause instanceof Unavailable ? cause : new Unavailable('store', cause)

/** Whether the server reports a missing table: it was removed after it was listed. */
export const isTableMissing = (cause: unknown): boolean =>
  cause instanceof Unavailable &&
  cause.cause instanceof SqlError &&
  /table does not exist/.test(cause.cause.message)
