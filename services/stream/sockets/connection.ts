import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { Cancel } from '../../ports/clock.ts'
import { type Frames, textFrame } from '../fan-out/frame.ts'
import { Allowance, messagesPerSecond } from './allowance.ts'
import { type Closing, closings } from './close-codes.ts'

/** Bytes that may wait for a client that reads slowly, beside one flush; beyond, it is closed with 4001. */
export const backlogBytesMax = 1_048_576
/** How long the oldest waiting byte may wait. */
export const backlogAgeMsMax = 30_000
/** A slot that cannot be freed in this time does not hold up the close frame any longer. */
const releaseTimeoutMs = 1_000

/** What a connection needs from the hub around it; one object shared by all of them. */
export interface ConnectionDeps {
  now(): number
  /** Frees everything the connection held; called once, at the latest when its socket is gone. Never rejects. */
  leave(connection: Connection): Promise<void>
  /** Says what must still be said before the server closes the connection. */
  beforeClose(connection: Connection): void
  after(delayMs: number, run: () => void): Cancel
  /** A close code was sent or received, once per connection; 1006 when the socket just went away. */
  closed(code: number): void
  /** What the socket shares with others of its key. */
  keyAllowance(keyId: string): Allowance
  /** Something of this client met a defect. */
  failed(connection: Connection, cause: unknown): void
}

/** Who is at the other end, as found at the upgrade. */
export interface Caller {
  readonly key: KeyRecord
  /** Digest of the secret that was accepted. */
  readonly digest: string
  readonly address: string
  readonly sessionId: string
}

/** Messages that are read and not yet answered. */
export interface Inbox {
  readonly texts: string[]
  /** UTF-16 units of all texts. */
  size: number
}

/** One open socket. Small: a hub holds ten thousands of them. */
export class Connection {
  readonly sessionId: string
  readonly digest: string
  readonly address: string
  /** As of the last look at the registry. */
  key: KeyRecord
  /** Its row in the subscriptions. */
  readonly row: number
  readonly socket: StreamSocket
  readonly #deps: ConnectionDeps
  readonly #raw: Duplex & { readonly bytesWritten?: number }
  /** Monotonic milliseconds of the last data frame or ping. */
  lastSeen: number
  /** See `throttle.ts`. */
  readonly allowance: Allowance
  readonly keyAllowance: Allowance
  /** Messages read and not yet answered. */
  inbox: Inbox | undefined
  /** It sent more than its allowance, or that of its key, and waits. */
  isThrottled = false
  /** The newest ping not yet answered. */
  pongDue: Buffer | undefined
  #stage: 'open' | 'leaving' | 'left' = 'open'
  /** While bytes wait: how far the socket must get until `#waitingSince` is moved on. */
  #waitingFor = 0
  #waitingSince: number | undefined
  #room: Promise<void> | undefined

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

  /** What waits because the client reads slowly. */
  get backlogBytes(): number {
    return this.#raw.writableLength
  }

  /** Sends ready frames in one write; what the kernel does not take waits within the bounds above. */
  write(frames: Frames): void {
    if (!this.open) return
    const waiting = this.#raw.writableLength
    if (waiting > 0 && waiting + frames.length > backlogBytesMax) return this.end(closings.tooSlow)
    this.#raw.write(frames, 'latin1')
    if (this.#waitingSince === undefined && this.#raw.writableLength > 0) this.#startWaiting()
  }

  send(message: string): void {
    this.write(textFrame(message))
  }

  /** Whether bytes wait for a client that reads slowly: what need not be sent at once should wait for `room`. */
  get isFull(): boolean {
    return this.open && this.#raw.writableNeedDrain
  }

  /** Resolves when the socket takes more, or is gone. */
  room(): Promise<void> {
    if (!this.isFull) return Promise.resolve()
    this.#room ??= new Promise<void>((resolve) => {
      const done = (): void => {
        this.#raw.off('drain', done).off('close', done)
        this.#room = undefined
        resolve()
      }
      this.#raw.on('drain', done).on('close', done)
    })
    return this.#room
  }

  /** Closes with 4001 if the oldest waiting byte is too old. Asked once a second. */
  checkBacklog(now: number): void {
    if (this.#waitingSince === undefined) return
    if (this.#raw.writableLength === 0) this.#waitingSince = undefined
    else if (this.#sent() >= this.#waitingFor) this.#startWaiting()
    else if (now - this.#waitingSince >= backlogAgeMsMax) this.end(closings.tooSlow)
  }

  /** Closes from our side; what must be said first is said first. Harmless when it is closing already. */
  end(closing: Closing): void {
    if (!this.open) return
    if (closing !== closings.tooSlow) this.#deps.beforeClose(this)
    // A socket that is not read would never see the client's half of the closing handshake.
    this.socket.resume()
    this.socket.close(closing.code, closing.reason)
  }

  /** Does something for this client; a defect that is met in it ends this socket and nothing else. */
  attempt<T>(run: () => T): T | undefined {
    try {
      return run()
    } catch (cause) {
      this.fail(cause)
      return undefined
    }
  }

  /** Closes with 1011 after a defect. Nothing is said first: what would be said may have met it. */
  fail(cause: unknown): void {
    this.#deps.failed(this, cause)
    try {
      this.socket.resume()
      this.socket.close(closings.fault.code, closings.fault.reason)
    } catch {
      this.socket.terminate()
    }
  }

  /** Frees slot and subscriptions, then runs `then`: so the slot is free before any close frame goes out. */
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

  #startWaiting(): void {
    this.#waitingSince = this.#deps.now()
    this.#waitingFor = this.#raw.bytesWritten ?? 0
  }

  /** Bytes that have left the process. */
  #sent(): number {
    return (this.#raw.bytesWritten ?? 0) - this.#raw.writableLength
  }
}

/**
 * The library's socket, with one difference: whoever closes it, our side or the client's close frame,
 * a protocol fault or the library itself, the slot is freed before our close frame goes out. A client
 * that reconnects as soon as it sees the close is never refused because of itself.
 */
export class StreamSocket extends WebSocket {
  connection: Connection | undefined

  override close(code?: number, reason?: string | Buffer): void {
    if (!this.connection) return super.close(code, reason)
    this.connection.leaveThen(code ?? noCloseCode, () => super.close(code, reason))
  }
}

/** As RFC 6455 names a close frame without a code. */
const noCloseCode = 1005
