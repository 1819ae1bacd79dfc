import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'
import { closings } from '../connection/close-codes.ts'
import { type Caller, Connection, type ConnectionDeps, type StreamSocket } from '../connection/connection.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'

/** A client that does not answer the close of a drain is cut after this time. */
const drainTimeoutMs = 3_000

/** All sockets of this process: open connections by row, and sockets that are closing. */
export class OpenSockets {
  readonly #clock: Clock
  readonly #subscriptions: Subscriptions
  readonly #byRow: (Connection | undefined)[] = []
  /** In the order in which they were opened. */
  readonly #open = new Set<Connection>()
  /** Sockets that are not gone; includes those that are closing. */
  readonly #sockets = new Set<StreamSocket>()
  #onEmpty: (() => void) | undefined

  constructor(clock: Clock, subscriptions: Subscriptions) {
    this.#clock = clock
    this.#subscriptions = subscriptions
  }

  get count(): number {
    return this.#open.size
  }

  /** Bytes queued for clients that read slowly. */
  get backlogBytes(): number {
    let bytes = 0
    for (const connection of this.#open) bytes += connection.backlogBytes
    return bytes
  }

  /** Connections with queued bytes; includes those that are closing. */
  unsent(): Connection[] {
    const connections: Connection[] = []
    for (const { connection } of this.#sockets)
      if (connection && connection.backlogBytes > 0) connections.push(connection)
    return connections
  }

  /** Open connections, the oldest first. */
  connections(): Iterable<Connection> {
    return this.#open
  }

  at(row: number): Connection | undefined {
    return this.#byRow[row]
  }

  add(caller: Caller, socket: StreamSocket, raw: Duplex, deps: ConnectionDeps): Connection {
    const row = this.#subscriptions.openRow()
    const connection = new Connection(caller, row, socket, raw, deps)
    socket.connection = connection
    this.#byRow[row] = connection
    this.#open.add(connection)
    this.#sockets.add(socket)
    return connection
  }

  /** The connection is closing: it counts as open no more. */
  remove(connection: Connection): void {
    this.#open.delete(connection)
    this.#byRow[connection.row] = undefined
  }

  gone(socket: StreamSocket): void {
    this.#sockets.delete(socket)
    if (this.#sockets.size === 0) this.#onEmpty?.()
  }

  /** Closes the `count` oldest connections with 1012. */
  closeFirst(count: number): void {
    for (const connection of this.#open.values().take(count)) connection.end(closings.draining)
  }

  /** Closes all connections with 1012; resolves when all sockets are gone, after three seconds at the latest. */
  async drain(): Promise<void> {
    this.closeFirst(this.#open.size)
    if (this.#sockets.size === 0) return
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(drainTimeoutMs, resolve)
      this.#onEmpty = () => {
        cancel()
        resolve()
      }
    })
    this.#onEmpty = undefined
    this.terminate()
  }

  terminate(): void {
    for (const socket of this.#sockets) socket.terminate()
  }
}
