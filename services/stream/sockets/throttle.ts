import { TurnTime } from '../../platform/turn-time.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import { type Allowance, KeyAllowances, messagesPerSecond } from '../connection/allowance.ts'
import { closings } from '../connection/close-codes.ts'
import { type Connection, messageBytesMax } from '../connection/connection.ts'
import { pongFrame } from '../fan-out/frame.ts'

/** Maximum messages per second of all sockets of a key in this process: forty sockets at 50 per second. */
const keyMessagesPerSecond = 2_000
/** Symbols and times that cost as much as one message. */
const entriesPerMessage = 100
/** Characters that count as one entry: parsing takes time whatever a text contains. */
const charactersPerEntry = 16
/** Maximum milliseconds for long messages per turn of the event loop; further ones wait for the next turn. */
const turnMs = 5
/** Maximum characters of a short message. It takes a tenth of a millisecond and does not wait for long ones. */
const shortMax = 1_024
/** Maximum milliseconds for all messages per turn of the event loop. */
const shortTurnMs = 20
/** Maximum queued messages of a socket; with more, or more than one long message, it is not read until half are answered. */
const inboxMessagesMax = 1_000
/** Maximum time above the message rate without a break; then a socket that is still too full to be read is closed. */
const floodMsMax = 60_000
/** Interval at which waiting connections are checked. */
const stepMs = 100

/** Answers a message, and returns the number of entries in its lists. */
type Handle = (connection: Connection, text: string) => number

/**
 * Answers the messages of a client that sends too fast at the maximum rate, in order, and drops none. Its socket
 * is read until the inbox is full, so that a close is seen behind many messages. At most one read of the socket
 * exceeds the limit. Long messages take a limited part of each turn of the event loop; in it the keys alternate,
 * one message each.
 */
export class Throttle {
  readonly #clock: Clock
  readonly #handle: Handle
  readonly #onThrottled: () => void
  readonly #keys: KeyAllowances
  /** Connections that have spent their own allowance or the one of their key. */
  readonly #waiting = new Set<Connection>()
  /** Connections that wait only for a turn of the event loop, by the allowance of their key. */
  readonly #ready = new Map<Allowance, Set<Connection>>()
  readonly #turn: TurnTime
  #cancel: Cancel | undefined

  constructor(clock: Clock, handle: Handle, onThrottled: () => void) {
    this.#clock = clock
    this.#handle = handle
    this.#onThrottled = onThrottled
    this.#keys = new KeyAllowances(clock, keyMessagesPerSecond)
    this.#turn = new TurnTime(clock, () => this.#serve())
  }

  /** Returns the allowance that the socket shares with others of its key, until `left`. */
  entered(keyId: string): Allowance {
    return this.#keys.open(keyId)
  }

  left(connection: Connection): void {
    this.#keys.close(connection.key.id)
    this.#waiting.delete(connection)
    this.#unready(connection)
  }

  message(connection: Connection, text: string): void {
    const now = this.#clock.monotonicMs()
    connection.lastSeen = now
    const isFree = connection.inbox === undefined && mayAnswer(connection, now)
    const isShort = text.length <= shortMax
    if (isFree && this.#turn.isLeft(isShort ? shortTurnMs : turnMs, now))
      return this.#answer(connection, text, now)
    connection.inbox ??= { texts: [], size: 0 }
    connection.inbox.texts.push(text)
    connection.inbox.size += text.length
    if (fullness(connection, now) >= 1) connection.socket.pause()
    this.#place(connection, now)
  }

  /** The pong is sent in a later turn, or after a pause if the allowance is spent; only for the newest ping (RFC 6455). */
  ping(connection: Connection, payload: Buffer): void {
    const now = this.#clock.monotonicMs()
    connection.lastSeen = now
    this.#control(connection, now)
    const isFirst = connection.pongDue === undefined
    connection.pongDue = payload
    if (!isFirst) return
    if (connection.allowance.left(now) > 0) this.#clock.soon(() => sendPong(connection))
    else this.#clock.after(stepMs, () => sendPong(connection))
  }

  /** This server sends no pings: a pong is a client's sign of life, and costs as much as a ping. */
  pong(connection: Connection): void {
    const now = this.#clock.monotonicMs()
    connection.lastSeen = now
    this.#control(connection, now)
  }

  /** For a message after the close: a client that continues to send is not read; the library cuts the socket later. */
  afterClose(connection: Connection): void {
    const now = this.#clock.monotonicMs()
    connection.allowance.spend(1, now)
    if (connection.allowance.left(now) <= -messagesPerSecond) connection.socket.pause()
  }

  close(): void {
    this.#cancel?.()
    this.#keys.stop()
    this.#waiting.clear()
    this.#ready.clear()
  }

  /** Pings and pongs are not queued: a debt of one second, from a flood of them, pauses the reading of the socket. */
  #control(connection: Connection, now: number): void {
    if (connection.allowance.left(now) > -messagesPerSecond) connection.allowance.spend(1, now)
    if (fullness(connection, now) >= 1) {
      connection.socket.pause()
      this.#place(connection, now)
    }
  }

  #answer(connection: Connection, text: string, now: number): void {
    const entries = connection.attempt(() => this.#handle(connection, text)) ?? 0
    const cost = 1 + Math.floor(Math.max(entries, text.length / charactersPerEntry) / entriesPerMessage)
    connection.allowance.spend(cost, now)
    connection.keyAllowance.spend(cost, now)
  }

  /** Decides, after a message arrived or was answered, whether the connection waits, and for what. */
  #place(connection: Connection, now: number): void {
    const { inbox, socket } = connection
    if (!connection.open) return
    if (socket.isPaused && fullness(connection, now) <= 0.5) socket.resume()
    const hasMessage = inbox !== undefined && inbox.texts.length > 0
    if (hasMessage && mayAnswer(connection, now)) this.#makeReady(connection, now)
    else if (hasMessage || socket.isPaused) this.#wait(connection, now)
    else {
      connection.inbox = undefined
      connection.isThrottled = false
      connection.floodingSince = undefined
    }
  }

  #makeReady(connection: Connection, now: number): void {
    const ofKey = this.#ready.get(connection.keyAllowance) ?? new Set()
    this.#ready.set(connection.keyAllowance, ofKey.add(connection))
    // Schedules the next turn, which serves.
    this.#turn.isLeft(turnMs, now)
  }

  #unready(connection: Connection): void {
    const ofKey = this.#ready.get(connection.keyAllowance)
    if (ofKey?.delete(connection) && ofKey.size === 0) this.#ready.delete(connection.keyAllowance)
  }

  #wait(connection: Connection, now: number): void {
    if (!connection.isThrottled) this.#onThrottled()
    connection.isThrottled = true
    // Other sockets of its key may be the cause.
    if (connection.allowance.left(now) < 1) connection.floodingSince ??= now
    this.#unready(connection)
    this.#waiting.add(connection)
    this.#cancel ??= this.#clock.every(stepMs, () => this.#step())
  }

  #step(): void {
    const now = this.#clock.monotonicMs()
    for (const connection of this.#waiting.values().toArray()) {
      if (connection.socket.isPaused) {
        // The client is not silent: the process does not read. Other sockets of its key may be the cause for minutes.
        connection.lastSeen = now
        // The end of a client is read behind its messages, and its slot is in use until then.
        if (now - (connection.floodingSince ?? now) >= floodMsMax) connection.end(closings.flooding)
      }
      this.#waiting.delete(connection)
      this.#place(connection, now)
    }
    this.#serve()
    if (this.#waiting.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** Answers one message of each key alternately, while this turn of the event loop has time. */
  #serve(): void {
    for (;;) {
      const [next] = this.#ready
      if (!next) return
      const now = this.#clock.monotonicMs()
      if (!this.#turn.isLeft(turnMs, now)) return
      const [ofKey, connections] = next
      const [connection] = connections
      this.#ready.delete(ofKey)
      if (connection) connections.delete(connection)
      if (connections.size > 0) this.#ready.set(ofKey, connections)
      if (connection) this.#answerNext(connection, now)
    }
  }

  #answerNext(connection: Connection, now: number): void {
    const { inbox } = connection
    const text = inbox?.texts[0]
    if (inbox && text !== undefined && connection.open && mayAnswer(connection, now)) {
      inbox.texts.shift()
      inbox.size -= text.length
      this.#answer(connection, text, now)
    }
    this.#place(connection, now)
  }
}

const mayAnswer = ({ allowance, keyAllowance }: Connection, now: number): boolean =>
  allowance.left(now) >= 1 && keyAllowance.left(now) >= 1

/** The used share of a connection's queue limits, as a fraction; at 1 or more its socket is not read. */
const fullness = ({ inbox, allowance }: Connection, now: number): number =>
  Math.max(
    (inbox?.texts.length ?? 0) / inboxMessagesMax,
    (inbox?.size ?? 0) / messageBytesMax,
    -allowance.left(now) / messagesPerSecond,
  )

function sendPong(connection: Connection): void {
  const payload = connection.pongDue
  connection.pongDue = undefined
  // The library's own pong would be queued without a limit while the client does not read.
  if (payload && connection.open) connection.attempt(() => connection.write(pongFrame(payload)))
}
