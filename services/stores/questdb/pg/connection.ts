import { connect, type Socket } from 'node:net'
import type { Address } from '../../../platform/config.ts'
import type { Credentials } from '../options.ts'
import {
  authenticated,
  bindAndExecute,
  closeStatement,
  errorFields,
  parse,
  password,
  received,
  startup,
  sync,
  wantsPassword,
} from './messages.ts'

/** The server rejected a statement; the connection stays usable. */
export class SqlError extends Error {
  readonly code: string
  constructor(code: string, text: string) {
    super(text)
    this.code = code
  }
}

/** The connection ended before the answer arrived. */
export class ConnectionLost extends Error {}

/**
 * Receives one row. Its fields are in `view` from `start` to `end`: each is a length (int32, −1 for NULL) and that
 * number of bytes. `set` is the index of the row's parameter set. An error that this function throws fails
 * the call.
 */
export type TakeRow = (view: DataView, start: number, end: number, set: number) => void

export interface Statement {
  readonly sql: string
  /** Executed one after another in one round trip. */
  readonly parameterSets: readonly (readonly string[])[]
  /** Returns every field as text, for statements with unknown types; otherwise fields are binary. */
  readonly asText?: boolean
}

/** Maximum length of a message; a row of the registry is far shorter. */
const messageBytesMax = 16 * 2 ** 20
/** Maximum prepared statements of a connection; the oldest is closed. */
const statementsMax = 1_000
/** The fields of a row begin after their count. */
const fieldsOffset = 2

interface Call {
  readonly takeRow: TakeRow
  /** Absent while the connection is being opened. */
  readonly statement: Statement | undefined
  /** Whether this call prepares the statement. */
  readonly isNew: boolean
  readonly resolve: () => void
  readonly reject: (cause: Error) => void
  set: number
  failure: Error | undefined
}

/** Idle time after which the system asks whether the peer is still there; its default is two hours. */
const keepAliveMs = 10_000

/** One connection. It runs one call at a time. */
export class PgConnection {
  readonly #socket: Socket
  readonly #credentials: Credentials
  readonly #prepared = new Map<string, string>()
  readonly #onEnd: () => void
  #rest: Buffer = Buffer.alloc(0)
  #call: Call | undefined
  #statements = 0
  #ended = false

  private constructor(address: Address, credentials: Credentials, onEnd: () => void) {
    this.#credentials = credentials
    this.#onEnd = onEnd
    this.#socket = connect({
      host: address.host,
      port: address.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
    })
    this.#socket.on('connect', () => this.#socket.write(startup(credentials.user, 'qdb')))
    this.#socket.on('data', (data) => this.#receive(data))
    this.#socket.on('error', (cause) => this.#end(cause))
    this.#socket.on('close', () => this.#end(new Error('the connection was closed')))
  }

  /** Returns the connection immediately, with a promise of its readiness. The owner sets the deadline of that. */
  static open(
    address: Address,
    credentials: Credentials,
    onEnd: () => void,
  ): { readonly connection: PgConnection; readonly ready: Promise<void> } {
    const connection = new PgConnection(address, credentials, onEnd)
    return { connection, ready: connection.#begin(() => undefined) }
  }

  get usable(): boolean {
    return !this.#ended
  }

  /** Rejects with `SqlError`, `ConnectionLost` or what `takeRow` threw. */
  run(statement: Statement, takeRow: TakeRow): Promise<void> {
    const { sql, parameterSets, asText = false } = statement
    if (this.#ended) return Promise.reject(new ConnectionLost('the connection has ended'))
    if (this.#call !== undefined) return Promise.reject(new Error('a connection does one call at a time'))
    const pieces: Buffer[] = []
    let name = this.#prepared.get(sql)
    const isNew = name === undefined
    if (name === undefined) {
      pieces.push(...this.#closeOldest())
      name = `s${++this.#statements}`
      this.#prepared.set(sql, name)
      pieces.push(parse(name, sql))
    }
    for (const parameters of parameterSets) pieces.push(bindAndExecute(name, parameters, asText))
    const done = this.#begin(takeRow, statement, isNew)
    this.#socket.write(Buffer.concat([...pieces, sync()]))
    return done
  }

  /** Ends the connection immediately; the server stops its work for it. */
  destroy(): void {
    this.#end(new Error('fxd closed the connection to QuestDB'))
  }

  #closeOldest(): Buffer[] {
    if (this.#prepared.size < statementsMax) return []
    const [oldest] = this.#prepared
    if (oldest === undefined) return []
    this.#prepared.delete(oldest[0])
    return [closeStatement(oldest[1])]
  }

  #begin(takeRow: TakeRow, statement?: Statement, isNew = false): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#call = { takeRow, statement, isNew, resolve, reject, set: 0, failure: undefined }
    })
  }

  #receive(chunk: Buffer): void {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const view = new DataView(data.buffer, data.byteOffset, data.length)
    let at = 0
    while (data.length - at >= 5) {
      const length = view.getInt32(at + 1)
      if (length < 4 || length > messageBytesMax)
        return this.#end(new Error(`a message of ${length} bytes is not valid in the protocol`))
      const end = at + 1 + length
      if (end > data.length) break
      this.#message(view.getUint8(at), data, view, { start: at + 5, end })
      if (this.#ended) return
      at = end
    }
    this.#rest = data.subarray(at)
  }

  #message(type: number, data: Buffer, view: DataView, { start, end }: { start: number; end: number }): void {
    const call = this.#call
    if (type === received.dataRow) return this.#row(view, start, end)
    if (type === commandComplete) return void (call && (call.set += 1))
    if (type === received.authentication) return this.#authenticate(view.getInt32(start))
    if (type === received.error) {
      const { code, text } = errorFields(data.subarray(start, end))
      if (call) call.failure ??= new SqlError(code, text)
    } else if (type === received.ready) this.#finish()
  }

  #row(view: DataView, start: number, end: number): void {
    const call = this.#call
    if (call === undefined || call.failure !== undefined) return
    try {
      call.takeRow(view, start + fieldsOffset, end, call.set)
    } catch (cause) {
      call.failure = cause as Error
    }
  }

  #authenticate(kind: number): void {
    if (kind === wantsPassword) this.#socket.write(password(this.#credentials.password))
    else if (kind !== authenticated) this.#end(new Error(`the server wants authentication of kind ${kind}`))
  }

  #finish(): void {
    const call = this.#call
    this.#call = undefined
    if (call === undefined) return
    const { failure, statement, isNew, takeRow, resolve, reject } = call
    if (failure === undefined) return resolve()
    if (statement === undefined) return reject(failure)
    // Its table was altered: until it is prepared again, the statement would fail on this connection.
    const isStale = !isNew && failure instanceof SqlError && failure.code === planChanged
    if (isNew || isStale) this.#prepared.delete(statement.sql)
    if (isStale) this.run(statement, takeRow).then(resolve, reject)
    else reject(failure)
  }

  #end(cause: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#socket.destroy()
    const call = this.#call
    this.#call = undefined
    // After a wrong password the server sends an error message and ends the connection.
    call?.reject(call.failure ?? new ConnectionLost(cause.message, { cause }))
    this.#onEnd()
  }
}

const commandComplete = 0x43 // C
/** "cached plan must not change result type": reported before any row. */
const planChanged = '0A000'
