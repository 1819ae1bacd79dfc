import type { Cancel, Clock } from '../../ports/clock.ts'
import { type Allowance, KeyAllowances } from './allowance.ts'
import type { Connection } from './connection.ts'

/** The same for all sockets of a key in this process: as much as forty of them at full pace. */
const keyMessagesPerSecond = 2_000
/** Symbols and times that cost as much as one message. */
const entriesPerMessage = 100
/** Reading JSON takes time whatever is in it: a text counts as if it listed an entry for each of these. */
const charactersPerEntry = 16
/** Time for long messages in one turn of the event loop; what is left waits for the next turn. */
const turnMs = 5
/** Shorter messages take a tenth of a millisecond: they do not wait behind long ones, but behind so much of all. */
const shortMax = 1_024
const shortTurnMs = 20
/** What may wait to be answered; with more the socket is not read until half of it is done. */
const inboxMessagesMax = 1_000
const inboxBytesMax = 65_536
/** Pings and pongs leave nothing to wait, so a flood of them is paid for by silence; this much at most. */
const debtMax = 50
const stepMs = 100

/** Answers a message and gives how many entries its lists had. */
export type Handle = (connection: Connection, text: string) => number

/**
 * Answers a client that sends too fast at the pace above, in order and without dropping anything. Its
 * socket is read until the inbox is full: so a client that sends much and leaves is seen to leave.
 * One read of a socket is the most that can come on top. Long messages take a bounded part of each turn of
 * the event loop; keys take turns in it, one message each.
 */
export class Throttle {
  readonly #clock: Clock
  readonly #handle: Handle
  readonly #onThrottled: () => void
  readonly #keys: KeyAllowances
  /** Connections whose allowance, or that of their key, is spent. */
  readonly #waiting = new Set<Connection>()
  /** Connections that wait for time only, by the allowance of their key. */
  readonly #ready = new Map<Allowance, Set<Connection>>()
  #turnBeganAt: number | undefined
  #cancel: Cancel | undefined

  constructor(clock: Clock, handle: Handle, onThrottled: () => void) {
    this.#clock = clock
    this.#handle = handle
    this.#onThrottled = onThrottled
    this.#keys = new KeyAllowances(clock, keyMessagesPerSecond)
  }

  /** Gives what the socket shares with others of its key; `left` gives it back. */
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
    if (isFree && this.#hasTime(now, isShort ? shortTurnMs : turnMs))
      return this.#answer(connection, text, now)
    connection.inbox ??= { texts: [], size: 0 }
    connection.inbox.texts.push(text)
    connection.inbox.size += text.length
    if (fullness(connection, now) >= 1) connection.socket.pause()
    this.#place(connection, now)
  }

  /**
   * Answered in a later turn, beyond the allowance after a pause: the newest for all that came until then, as
   * RFC 6455 allows.
   */
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

  /** This server sends no pings, so nobody is owed a pong; it costs as much as a ping. */
  pong(connection: Connection): void {
    this.#control(connection, this.#clock.monotonicMs())
  }

  /** Came after the close: who goes on sending is not read any more; the library cuts the socket in time. */
  late(connection: Connection): void {
    const now = this.#clock.monotonicMs()
    connection.allowance.spend(1, now)
    if (connection.allowance.left(now) <= -debtMax) connection.socket.pause()
  }

  close(): void {
    this.#cancel?.()
    this.#keys.stop()
    this.#waiting.clear()
    this.#ready.clear()
  }

  #control(connection: Connection, now: number): void {
    if (connection.allowance.left(now) > -debtMax) connection.allowance.spend(1, now)
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

  /** Where a connection waits after something came or was answered; nowhere when it is through. */
  #place(connection: Connection, now: number): void {
    const { inbox, socket } = connection
    if (!connection.open) return
    if (socket.isPaused && fullness(connection, now) <= 0.5) socket.resume()
    const isAsking = inbox !== undefined && inbox.texts.length > 0
    if (isAsking && mayAnswer(connection, now)) this.#makeReady(connection, now)
    else if (isAsking || socket.isPaused) this.#wait(connection)
    else {
      connection.inbox = undefined
      connection.isThrottled = false
    }
  }

  #makeReady(connection: Connection, now: number): void {
    const ofKey = this.#ready.get(connection.keyAllowance) ?? new Set()
    this.#ready.set(connection.keyAllowance, ofKey.add(connection))
    // A turn that was asked for its time is followed by one that serves.
    this.#hasTime(now)
  }

  #unready(connection: Connection): void {
    const ofKey = this.#ready.get(connection.keyAllowance)
    if (ofKey?.delete(connection) && ofKey.size === 0) this.#ready.delete(connection.keyAllowance)
  }

  #wait(connection: Connection): void {
    if (!connection.isThrottled) this.#onThrottled()
    connection.isThrottled = true
    this.#unready(connection)
    this.#waiting.add(connection)
    this.#cancel ??= this.#clock.every(stepMs, () => this.#step())
  }

  /** Whether this turn of the event loop began less than so long ago. */
  #hasTime(now: number, ms: number = turnMs): boolean {
    if (this.#turnBeganAt === undefined) {
      this.#turnBeganAt = now
      this.#clock.soon(() => {
        this.#turnBeganAt = undefined
        this.#serve()
      })
    }
    return now < this.#turnBeganAt + ms
  }

  #step(): void {
    const now = this.#clock.monotonicMs()
    for (const connection of this.#waiting.values().toArray()) {
      // It has not fallen silent: the process does not listen.
      if (connection.socket.isPaused) connection.lastSeen = now
      this.#waiting.delete(connection)
      this.#place(connection, now)
    }
    this.#serve()
    if (this.#waiting.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** One message of each key in turn, for as long as this turn of the event loop has time. */
  #serve(): void {
    for (;;) {
      const [next] = this.#ready
      if (!next) return
      const now = this.#clock.monotonicMs()
      if (!this.#hasTime(now)) return
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

/** How much of its bounds a connection uses; from 1 on its socket is not read. */
const fullness = ({ inbox, allowance }: Connection, now: number): number =>
  Math.max(
    (inbox?.texts.length ?? 0) / inboxMessagesMax,
    (inbox?.size ?? 0) / inboxBytesMax,
    -allowance.left(now) / debtMax,
  )

function sendPong(connection: Connection): void {
  const payload = connection.pongDue
  connection.pongDue = undefined
  if (payload && connection.open) connection.attempt(() => connection.socket.pong(payload))
}
