import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { UnreadAnswers, unreadBytesMax } from './unread-answers.ts'

/** Maximum open connections, sockets of the stream included. */
const connectionsMax = 20_000
/** Maximum requests under way on one connection; one more closes the connection. */
const requestsPerConnectionMax = 8

/** Too many requests under way, answers that were not read, or idle while there was the maximum of connections. */
export const cutReasons = ['pipelined', 'unread', 'idle'] as const
export type CutReason = (typeof cutReasons)[number]

interface HttpConnectionsDeps {
  readonly connectionsMax?: number
  readonly dropped?: (() => void) | undefined
  readonly unreadBytesMax?: number
  readonly cut?: ((reason: CutReason) => void) | undefined
}

/** The open connections of an HTTP server, upgraded ones included, and the requests that are under way on each. */
export class HttpConnections {
  readonly #open = new Map<Socket, Set<ServerResponse>>()
  /** Connections without a request under way, upgraded ones excluded; the one that is idle longest is first. */
  readonly #idle = new Set<Socket>()
  readonly #upgraded = new WeakSet<Socket>()
  readonly #deps: HttpConnectionsDeps
  readonly #unread: UnreadAnswers
  #draining = false

  constructor(deps: HttpConnectionsDeps) {
    this.#deps = deps
    this.#unread = new UnreadAnswers(deps.unreadBytesMax ?? unreadBytesMax, (socket) =>
      this.close(socket, 'unread'),
    )
  }

  get size(): number {
    return this.#open.size
  }

  get unreadBytes(): number {
    return this.#unread.bytes
  }

  /** At the maximum a new connection replaces the one that is idle longest; without one it is dropped. */
  opened(socket: Socket): void {
    if (this.#open.size >= (this.#deps.connectionsMax ?? connectionsMax) && !this.#closeIdle()) {
      socket.destroy()
      this.#deps.dropped?.()
      return
    }
    const underWay = new Set<ServerResponse>()
    this.#open.set(socket, underWay)
    this.#idle.add(socket)
    socket.once('close', () => {
      for (const response of underWay) closeQueued(response)
      this.#forget(socket)
      this.#unread.read(socket, 0)
    })
    // Node removes its own error listener at an upgrade; a reset at that moment must not end the process.
    socket.on('error', () => socket.destroy())
  }

  isFull(socket: Socket): boolean {
    return (this.#open.get(socket)?.size ?? 0) >= requestsPerConnectionMax
  }

  /** Counts a request as under way. Returns `false`, without a count, if its connection is closed. */
  begin(socket: Socket, response: ServerResponse): boolean {
    const underWay = this.#open.get(socket)
    if (!underWay || socket.destroyed) return false
    underWay.add(response)
    this.#idle.delete(socket)
    response.once('close', () => {
      underWay.delete(response)
      if (underWay.size === 0 && this.#open.has(socket) && !this.#upgraded.has(socket)) this.#idle.add(socket)
      this.#unread.read(socket, this.#unreadOf(socket))
    })
    if (this.#draining) endConnection(response)
    return true
  }

  /** An answer of this connection was written; it waits until the client has read the answers before it. */
  answered(socket: Socket): void {
    this.#unread.written(socket, this.#unreadOf(socket))
  }

  upgraded(socket: Socket): void {
    this.#idle.delete(socket)
    this.#upgraded.add(socket)
  }

  /** Leaves a connection open whose client waits for the first byte of an answer: its reads have their own deadlines. */
  stalled(socket: Socket): void {
    const [first] = this.#open.get(socket) ?? []
    const isWaiting = first !== undefined && first.req.complete && !first.headersSent
    if (!isWaiting) socket.destroy()
  }

  isAnswering(socket: Socket): boolean {
    return (this.#open.get(socket)?.size ?? 0) > 0
  }

  /** From now on each answer has `Connection: close`, so that its client connects to another process. */
  drain(): void {
    this.#draining = true
    for (const underWay of this.#open.values()) for (const response of underWay) endConnection(response)
  }

  destroy(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  close(socket: Socket, reason: CutReason): void {
    socket.destroy()
    this.#deps.cut?.(reason)
  }

  #closeIdle(): boolean {
    const [socket] = this.#idle
    if (!socket) return false
    // Its close event comes later.
    this.#forget(socket)
    this.close(socket, 'idle')
    return true
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket)
    this.#idle.delete(socket)
  }

  #unreadOf(socket: Socket): number {
    if (socket.destroyed) return 0
    let bytes = 0
    for (const { writableLength } of this.#open.get(socket) ?? []) bytes += writableLength
    return bytes
  }
}

/** Node emits no `close` on an answer that waits behind another when their connection closes. */
function closeQueued(response: ServerResponse): void {
  if (response.socket !== null) return
  response.destroy()
  response.emit('close')
}

function endConnection(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}
