import type { Socket } from 'node:net'

/** Maximum bytes of answers that clients have not read, over all connections. */
export const unreadBytesMax = 64 * 1_048_576

/** The connections of one address that wait for their clients. */
interface Holder {
  readonly address: string
  bytes: number
  /** Bytes by connection; the one that has waited longest is first. */
  readonly waiting: Map<Socket, number>
}

/**
 * Counts answers that wait for slow clients. Above the limit it closes a connection of the address with the most bytes:
 * the one whose client has read no whole answer for longest. Connections whose clients read continue.
 */
export class UnreadAnswers {
  readonly #bytesMax: number
  readonly #close: (socket: Socket) => void
  readonly #byAddress = new Map<string, Holder>()
  /** A closed connection no longer reports its address. */
  readonly #holders = new Map<Socket, Holder>()
  #bytes = 0

  constructor(bytesMax: number, close: (socket: Socket) => void) {
    this.#bytesMax = bytesMax
    this.#close = close
  }

  get bytes(): number {
    return this.#bytes
  }

  /** One more answer of this connection was written; `bytes` is the size of all its unread answers. */
  written(socket: Socket, bytes: number): void {
    this.#set(socket, bytes)
    while (this.#bytes > this.#bytesMax) {
      const [first] = this.#greatest().waiting.keys()
      if (first === undefined) return
      this.#set(first, 0)
      this.#close(first)
    }
  }

  /** The client has read an answer, or has gone: its connection is now the one that waited least. */
  read(socket: Socket, bytes: number): void {
    this.#set(socket, 0)
    this.#set(socket, bytes)
  }

  #set(socket: Socket, bytes: number): void {
    const holder = this.#holders.get(socket) ?? this.#holderAt(socket.remoteAddress ?? '')
    const more = bytes - (holder.waiting.get(socket) ?? 0)
    this.#bytes += more
    holder.bytes += more
    if (bytes > 0) {
      holder.waiting.set(socket, bytes)
      this.#holders.set(socket, holder)
      this.#byAddress.set(holder.address, holder)
    } else {
      holder.waiting.delete(socket)
      this.#holders.delete(socket)
      if (holder.waiting.size === 0) this.#byAddress.delete(holder.address)
    }
  }

  #holderAt(address: string): Holder {
    return this.#byAddress.get(address) ?? { address, bytes: 0, waiting: new Map() }
  }

  #greatest(): Holder {
    return [...this.#byAddress.values()].reduce((most, each) => (each.bytes > most.bytes ? each : most))
  }
}
