import type { Cancel, Clock } from '../ports/clock.ts'
import type { Connection } from './connection.ts'

/** Messages and pings of one socket that are read in a second; as many may come at once. */
export const messagesPerSecond = 50
/** Pings are not kept for later, so a flood of them can only be paid for by silence; this much at most. */
const debtMax = 50
const stepMs = 100

/**
 * Reads a client that sends too fast more slowly: nothing is dropped, its socket is not read until what
 * it sent is answered at the pace above. What can wait here is bounded by one read of a socket (64 KiB).
 */
export class Throttle {
  readonly #clock: Clock
  readonly #handle: (connection: Connection, text: string) => void
  readonly #onThrottled: () => void
  readonly #held = new Set<Connection>()
  #cancel: Cancel | undefined

  constructor(clock: Clock, handle: (connection: Connection, text: string) => void, onThrottled: () => void) {
    this.#clock = clock
    this.#handle = handle
    this.#onThrottled = onThrottled
  }

  message(connection: Connection, text: string): void {
    const now = this.#clock.monotonicMs()
    connection.lastSeen = now
    if (connection.inbox === undefined && take(connection, now)) return this.#handle(connection, text)
    connection.inbox ??= []
    connection.inbox.push(text)
    this.#hold(connection)
  }

  /** Answered in a later turn, the newest for all that came until then, as RFC 6455 allows. */
  ping(connection: Connection, payload: Buffer): void {
    const now = this.#clock.monotonicMs()
    connection.lastSeen = now
    if (!take(connection, now)) {
      connection.allowance = Math.max(-debtMax, connection.allowance - 1)
      this.#hold(connection)
    }
    if (connection.pongDue === undefined) this.#clock.soon(() => sendPong(connection))
    connection.pongDue = payload
  }

  close(): void {
    this.#cancel?.()
    this.#held.clear()
  }

  #hold(connection: Connection): void {
    if (this.#held.has(connection)) return
    this.#held.add(connection)
    connection.socket.pause()
    this.#onThrottled()
    this.#cancel ??= this.#clock.every(stepMs, () => this.#step())
  }

  #step(): void {
    const now = this.#clock.monotonicMs()
    for (const connection of this.#held) {
      // It has not fallen silent: we do not listen.
      connection.lastSeen = now
      const { inbox } = connection
      while (inbox?.length && connection.open && take(connection, now)) {
        this.#handle(connection, inbox.shift() ?? '')
      }
      refresh(connection, now)
      if (connection.open && (inbox?.length || connection.allowance < 1)) continue
      connection.inbox = undefined
      this.#held.delete(connection)
      connection.socket.resume()
    }
    if (this.#held.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }
}

function refresh(connection: Connection, now: number): void {
  const earned = ((now - connection.allowanceAt) / 1000) * messagesPerSecond
  connection.allowance = Math.min(messagesPerSecond, connection.allowance + earned)
  connection.allowanceAt = now
}

function take(connection: Connection, now: number): boolean {
  refresh(connection, now)
  if (connection.allowance < 1) return false
  connection.allowance -= 1
  return true
}

function sendPong(connection: Connection): void {
  const payload = connection.pongDue
  connection.pongDue = undefined
  if (payload && connection.open) connection.socket.pong(payload)
}
