import type { Cancel, Clock } from '../ports/clock.ts'
import type { Connection } from './connection.ts'

/** Messages and pings of one socket that are answered in a second; as many may come at once. */
export const messagesPerSecond = 50
/** A long message counts as several, one for each of these (a list of 9,000 symbols takes 2 ms). */
const sizePerMessage = 8_192
/** What may wait to be answered; with more the socket is not read until half of it is done. */
const inboxMessagesMax = 1_000
const inboxBytesMax = 65_536
/** Pings leave nothing to wait, so a flood of them is paid for by silence; this much at most. */
const debtMax = 50
const stepMs = 100

export interface Inbox {
  readonly texts: string[]
  /** UTF-16 units of all of them. */
  size: number
}

/**
 * Answers a client that sends too fast at the pace above, in order and without dropping anything. Its
 * socket is read until the inbox is full: so a client that sends much and leaves is seen to leave.
 * One read of a socket is the most that can come on top.
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
    if (connection.inbox === undefined && take(connection, text, now)) {
      return this.#handle(connection, text)
    }
    connection.inbox ??= { texts: [], size: 0 }
    connection.inbox.texts.push(text)
    connection.inbox.size += text.length
    this.#hold(connection)
    if (fullness(connection) >= 1) connection.socket.pause()
  }

  /** Answered in a later turn, the newest for all that came until then, as RFC 6455 allows. */
  ping(connection: Connection, payload: Buffer): void {
    const now = this.#clock.monotonicMs()
    connection.lastSeen = now
    refresh(connection, now)
    connection.allowance = Math.max(-debtMax, connection.allowance - 1)
    if (fullness(connection) >= 1) {
      this.#hold(connection)
      connection.socket.pause()
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
    this.#onThrottled()
    this.#cancel ??= this.#clock.every(stepMs, () => this.#step())
  }

  #step(): void {
    for (const connection of this.#held) if (this.#serve(connection)) this.#held.delete(connection)
    if (this.#held.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** Whether it is through. */
  #serve(connection: Connection): boolean {
    const now = this.#clock.monotonicMs()
    const { inbox, socket } = connection
    // Then it has not fallen silent: we do not listen.
    if (socket.isPaused) connection.lastSeen = now
    for (let text = inbox?.texts[0]; text !== undefined && inbox; text = inbox.texts[0]) {
      if (!connection.open || !take(connection, text, now)) break
      inbox.texts.shift()
      inbox.size -= text.length
      this.#handle(connection, text)
    }
    if (!connection.open) return true
    refresh(connection, now)
    if (socket.isPaused && fullness(connection) <= 0.5) socket.resume()
    if (socket.isPaused || inbox?.texts.length) return false
    connection.inbox = undefined
    return true
  }
}

/** How much of its bounds a connection uses; from 1 on its socket is not read. */
const fullness = ({ inbox, allowance }: Connection): number =>
  Math.max(
    (inbox?.texts.length ?? 0) / inboxMessagesMax,
    (inbox?.size ?? 0) / inboxBytesMax,
    -allowance / debtMax,
  )

function refresh(connection: Connection, now: number): void {
  const earned = ((now - connection.allowanceAt) / 1000) * messagesPerSecond
  connection.allowance = Math.min(messagesPerSecond, connection.allowance + earned)
  connection.allowanceAt = now
}

function take(connection: Connection, text: string, now: number): boolean {
  refresh(connection, now)
  if (connection.allowance < 1) return false
  connection.allowance -= 1 + Math.floor(text.length / sizePerMessage)
  return true
}

function sendPong(connection: Connection): void {
  const payload = connection.pongDue
  connection.pongDue = undefined
  if (payload && connection.open) connection.socket.pong(payload)
}
