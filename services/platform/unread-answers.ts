import type { Socket } from 'node:net'

/** What the answers of all connections may hold in memory until their clients read them. */
export const unreadBytesMax = 64 * 1_048_576

/**
 * Counts what waits for clients that read slowly. Beyond the bound the connection is closed whose client has taken
 * no whole answer for longest: those that read go on.
 */
export class UnreadAnswers {
  readonly #bytesMax: number
  readonly #close: (socket: Socket) => void
  /** Bytes by connection, the one that has waited longest first. */
  readonly #waiting = new Map<Socket, number>()
  #bytes = 0

  constructor(bytesMax: number, close: (socket: Socket) => void) {
    this.#bytesMax = bytesMax
    this.#close = close
  }

  get bytes(): number {
    return this.#bytes
  }

  /** One more answer of this connection was written; `bytes` is what all of its answers hold now. */
  written(socket: Socket, bytes: number): void {
    this.#set(socket, bytes)
    for (const first of this.#waiting.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#set(first, 0)
      this.#close(first)
    }
  }

  /** A client has taken an answer, or is gone: it now waits for less time than all others. */
  taken(socket: Socket, bytes: number): void {
    this.#set(socket, 0)
    this.#set(socket, bytes)
  }

  #set(socket: Socket, bytes: number): void {
    this.#bytes += bytes - (this.#waiting.get(socket) ?? 0)
    if (bytes > 0) this.#waiting.set(socket, bytes)
    else this.#waiting.delete(socket)
  }
}
