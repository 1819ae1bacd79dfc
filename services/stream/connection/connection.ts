import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { Cancel } from '../../ports/clock.ts'
import { type Frames, textFrame } from '../fan-out/frame.ts'
import { Allowance, messagesPerSecond } from './allowance.ts'
import { type Closing, closings } from './close-codes.ts'

/** Maximum bytes of a client message; a longer one is closed with 1009. */
export const messageBytesMax = 65_536
/** Maximum bytes queued for a slow client, besides one write; with more it is closed with 4001. */
export const backlogBytesMax = 1_048_576
/** Maximum age of the oldest queued byte; then the client is closed with 4001. */
export const backlogAgeMsMax = 30_000
/** Maximum delay of the close frame until the slot is freed. */
const releaseTimeoutMs = 1_000

/** What a connection needs from the stream; one object shared by all connections. */
export interface ConnectionDeps {
  now(): number
  /** Frees all its resources. Called once, at the latest when the socket is gone. Never rejects. */
  leave(connection: Connection): Promise<void>
  beforeClose(connection: Connection): void
  after(delayMs: number, run: () => void): Cancel
  /** Called after a write of this many bytes that the system did not accept completely. */
  queued(bytes: number): void
  /** Called once per connection with the code that was sent or received; 1006 without a close frame. */
  closed(code: number): void
  keyAllowance(keyId: string): Allowance
  failed(connection: Connection, cause: unknown): void
}

/** The client, as found at the upgrade. */
export interface Caller {
  readonly key: KeyRecord
  /** Digest of the secret that was accepted. */
  readonly digest: string
  readonly address: string
  readonly sessionId: string
}

/** Messages that are read and not yet answered. */
interface Inbox {
  readonly texts: string[]
  /** UTF-16 units of all texts. */
  size: number
}

/** One open socket. It must stay small: a process has tens of thousands. */
export class Connection {
  readonly sessionId: string
  readonly digest: string
  readonly address: string
  /** The record of the key at the last review. */
  key: KeyRecord
  /** Its row in the subscriptions. */
  readonly row: number
  readonly socket: StreamSocket
  readonly #deps: ConnectionDeps
  readonly #raw: Duplex & { readonly bytesWritten?: number }
  /** Monotonic milliseconds of the last data frame, ping or pong. */
  lastSeen: number
  /** See `throttle.ts`. */
  readonly allowance: Allowance
  readonly keyAllowance: Allowance
  inbox: Inbox | undefined
  /** Whether its messages are queued because it has spent its own allowance or the one of its key. */
  isThrottled = false
  /** Monotonic milliseconds since when messages are queued because its own allowance is spent. */
  floodingSince: number | undefined
  /** The newest ping not yet answered. */
  pongDue: Buffer | undefined
  #stage: 'open' | 'leaving' | 'left' = 'open'
  /** Total of sent bytes at which all bytes queued at `#queuedSince` are sent; then `#queuedSince` is set again. */
  #queuedUntil = 0
  #queuedSince: number | undefined
  #drained: Promise<void> | undefined

  constructor(caller: Caller, row: number, socket: StreamSocket, raw: Duplex, deps: ConnectionDeps) {
    this.sessionId = caller.sessionId
    this.digest = caller.digest
    this.address = caller.address
    this.key = caller.key
    this.row = row
    this.socket = socket
    this.#raw = raw
    this.#deps = deps
    this.lastSeen = deps.now()
    this.allowance = new Allowance(messagesPerSecond, this.lastSeen)
    this.keyAllowance = deps.keyAllowance(caller.key.id)
  }

  get open(): boolean {
    return this.#stage === 'open' && this.socket.readyState === WebSocket.OPEN
  }

  get backlogBytes(): number {
    return this.#raw.destroyed ? 0 : this.#raw.writableLength
  }

  /** Sends in one write, or queues within the limits above. Returns whether none is queued, so that the memory is free. */
  write(frames: Frames | Buffer): boolean {
    if (!this.open) return true
    const queued = this.#raw.writableLength
    if (queued > 0 && queued + frames.length > backlogBytesMax) {
      this.end(closings.tooSlow)
      return true
    }
    this.#raw.write(frames, 'latin1')
    if (this.#raw.writableLength === 0) return true
    if (this.#queuedSince === undefined) this.#markQueued()
    this.#deps.queued(frames.length)
    return false
  }

  send(message: string): void {
    this.write(textFrame(message))
  }

  /** Whether replays should wait for `writable`. After a long write the system may have taken all bytes. */
  get isFull(): boolean {
    return this.open && this.#raw.writableNeedDrain && this.#raw.writableLength > 0
  }

  /** Resolves when the socket accepts more bytes, or is gone. */
  writable(): Promise<void> {
    if (!this.isFull) return Promise.resolve()
    this.#drained ??= new Promise<void>((resolve) => {
      const done = (): void => {
        this.#raw.off('drain', done).off('close', done)
        this.#drained = undefined
        resolve()
      }
      this.#raw.on('drain', done).on('close', done)
    })
    return this.#drained
  }

  /** Closes with 4001 if the oldest queued byte is too old. Called once a second. */
  checkBacklog(now: number): void {
    if (this.#queuedSince === undefined) return
    if (this.#raw.writableLength === 0) this.#queuedSince = undefined
    else if (this.#sent() >= this.#queuedUntil) this.#markQueued()
    else if (now - this.#queuedSince >= backlogAgeMsMax) this.end(closings.tooSlow)
  }

  /** Closes from the server's side, after the last frames. Does nothing if it is closing already. */
  end(closing: Closing): void {
    if (!this.open) return
    if (closing !== closings.tooSlow) this.#deps.beforeClose(this)
    // A paused socket would never receive the client's part of the closing handshake.
    this.socket.resume()
    this.socket.close(closing.code, closing.reason)
  }

  /** Drops the socket and all that is queued for it. A close frame would also be queued. */
  cut(): void {
    this.leaveThen(closings.tooSlow.code, () => undefined)
    this.socket.terminate()
  }

  /** Runs a handler for this client; a defect in it closes this socket and nothing else. */
  attempt<T>(run: () => T): T | undefined {
    try {
      return run()
    } catch (cause) {
      this.fail(cause)
      return undefined
    }
  }

  /** Closes with 1011 after a defect. Sends nothing before: the last frames may be what failed. */
  fail(cause: unknown): void {
    this.#deps.failed(this, cause)
    try {
      this.socket.resume()
      this.socket.close(closings.fault.code, closings.fault.reason)
    } catch {
      this.socket.terminate()
    }
  }

  /** Frees slot and subscriptions, then runs `then`, so that the slot is free before a close frame is sent. */
  leaveThen(code: number, then: () => void): void {
    if (this.#stage === 'left') {
      this.attempt(then)
      return
    }
    if (this.#stage === 'leaving') return
    this.#stage = 'leaving'
    this.inbox = undefined
    this.#deps.closed(code)
    const done = (): void => {
      if (this.#stage === 'left') return
      this.#stage = 'left'
      late()
      this.attempt(then)
    }
    const late = this.#deps.after(releaseTimeoutMs, done)
    void this.#deps
      .leave(this)
      .catch((cause: unknown) => this.#deps.failed(this, cause))
      .finally(done)
  }

  #markQueued(): void {
    this.#queuedSince = this.#deps.now()
    this.#queuedUntil = this.#raw.bytesWritten ?? 0
  }

  /** Bytes that have left the process. */
  #sent(): number {
    return (this.#raw.bytesWritten ?? 0) - this.#raw.writableLength
  }
}

/**
 * The library's socket, with one difference: at every kind of close the slot is freed before the close frame is
 * sent. So a client that reconnects immediately after the close is never refused because of its old socket.
 */
export class StreamSocket extends WebSocket {
  connection: Connection | undefined

  override close(code?: number, reason?: string | Buffer): void {
    if (!this.connection) return super.close(code, reason)
    this.connection.leaveThen(code ?? noCloseCode, () => super.close(code, reason))
  }
}

/** The code of RFC 6455 for a close frame without a code. */
const noCloseCode = 1005
