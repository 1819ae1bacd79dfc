import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A fault of one direction. */
export type Toxic =
  /** All bytes arrive so much later, however many are on their way. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Drops the bytes and keeps the connection open, like a half-open connection. */
  | { readonly kind: 'swallow' }
  /** Holds the bytes until their release, from the first chunk that contains this text on. */
  | { readonly kind: 'hold'; readonly from: string }
  /** Resets the connection after this number of bytes, also in the middle of a message. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  | { readonly kind: 'slice'; readonly bytes: number }

export interface Toxics {
  /** Towards the server. */
  readonly up?: Toxic
  /** Towards the client. */
  readonly down?: Toxic
  /** New connections are reset (`refuse`), or accepted and never answered (`mute`). */
  readonly connections?: 'refuse' | 'mute'
}

export interface TcpProxy {
  readonly host: string
  readonly port: number
  /** Applies to new and open connections from now on. Swallowed bytes stay lost. */
  set(toxics: Toxics): void
  /** Resets every open connection. */
  reset(): void
  /** Drops all bytes of the connections that are open now, like a half-open connection. New ones are not affected. */
  strand(): void
  /** Resolves once bytes are held. */
  held(): Promise<void>
  /**
   * Sends held bytes, even if the client has disconnected, since a network may deliver late. Resolves with the number
   * of bytes that were delivered.
   */
  release(): Promise<number>
  close(): Promise<void>
}

type Direction = 'up' | 'down'

interface Pipe {
  readonly direction: Direction
  readonly to: Socket
  /** Held chunks. */
  waiting: Buffer[]
  holds: boolean
  passed: number
  sending: Promise<unknown>
}

interface ProxiedConnection {
  readonly client: Socket
  readonly server: Socket
  readonly pipes: readonly [Pipe, Pipe]
  isStranded: boolean
}

const host = '127.0.0.1'

/** Opens a proxy between clients and a server that can delay, drop, hold, cut and slice bytes. */
export async function openTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const proxy = new ToxicProxy(target)
  await proxy.listen()
  return proxy
}

class ToxicProxy implements TcpProxy {
  readonly host = host
  port = 0
  readonly #target: { host: string; port: number }
  readonly #connections = new Set<ProxiedConnection>()
  readonly #mute = new Set<Socket>()
  readonly #listener: Server
  #toxics: Toxics = {}
  #holdListeners: (() => void)[] = []

  constructor(target: { host: string; port: number }) {
    this.#target = target
    this.#listener = createServer({ noDelay: true }, (client) => this.#accept(client))
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#listener.once('error', reject)
      this.#listener.listen(0, host, () => {
        const address = this.#listener.address()
        if (address === null || typeof address === 'string') return reject(new Error('no port'))
        this.port = address.port
        resolve()
      })
    })
  }

  set(toxics: Toxics): void {
    this.#toxics = toxics
  }

  reset(): void {
    for (const { client, server } of this.#connections) {
      client.resetAndDestroy()
      server.resetAndDestroy()
    }
    for (const socket of this.#mute) socket.resetAndDestroy()
    this.#connections.clear()
    this.#mute.clear()
  }

  held(): Promise<void> {
    if ([...this.#connections].some(({ pipes }) => pipes.some(({ holds }) => holds))) return Promise.resolve()
    return new Promise((resolve) => void this.#holdListeners.push(resolve))
  }

  async release(): Promise<number> {
    this.#toxics = {}
    let delivered = 0
    for (const pipe of [...this.#connections].flatMap(({ pipes }) => pipes.filter(({ holds }) => holds))) {
      pipe.holds = false
      for (const piece of pipe.waiting.splice(0)) if (await write(pipe.to, piece)) delivered += piece.length
    }
    return delivered
  }

  strand(): void {
    for (const connection of this.#connections) connection.isStranded = true
  }

  async close(): Promise<void> {
    this.reset()
    await new Promise((resolve) => this.#listener.close(resolve))
  }

  #accept(client: Socket): void {
    client.on('error', () => undefined)
    const { connections } = this.#toxics
    if (connections === 'refuse') return void client.resetAndDestroy()
    if (connections === 'mute') return void this.#mute.add(client)
    const server = connect({ ...this.#target, noDelay: true })
    server.on('error', () => undefined)
    const pipe = (direction: Direction, to: Socket): Pipe => ({
      direction,
      to,
      waiting: [],
      holds: false,
      passed: 0,
      sending: Promise.resolve(),
    })
    const pipes = [pipe('up', server), pipe('down', client)] as const
    const connection: ProxiedConnection = { client, server, pipes: [...pipes], isStranded: false }
    this.#connections.add(connection)
    this.#forward(connection, client, pipes[0])
    this.#forward(connection, server, pipes[1])
  }

  /** Forwards the bytes and the end of `from`. */
  #forward(connection: ProxiedConnection, from: Socket, pipe: Pipe): void {
    from.on('data', (piece) => {
      const readMs = performance.now()
      pipe.sending = pipe.sending
        .then(() => this.#carry(connection, pipe, piece, readMs))
        .catch(() => undefined)
    })
    from.on('close', () => {
      // Held bytes are kept after the end of their sender.
      if (connection.pipes.some(({ holds }) => holds)) return
      void pipe.sending.finally(() => {
        pipe.to.destroy()
        if (connection.client.destroyed && connection.server.destroyed) this.#connections.delete(connection)
      })
    })
  }

  async #carry(connection: ProxiedConnection, pipe: Pipe, piece: Buffer, readMs: number): Promise<void> {
    const toxic = this.#toxics[pipe.direction]
    if (connection.isStranded) return
    if (pipe.holds) return void pipe.waiting.push(piece)
    pipe.passed += piece.length
    switch (toxic?.kind) {
      case 'swallow':
        return
      case 'hold':
        if (!piece.includes(toxic.from)) break
        pipe.holds = true
        pipe.waiting.push(piece)
        for (const resume of this.#holdListeners.splice(0)) resume()
        return
      case 'cut':
        if (pipe.passed <= toxic.afterBytes) break
        await write(pipe.to, piece.subarray(0, Math.max(0, piece.length - (pipe.passed - toxic.afterBytes))))
        connection.client.resetAndDestroy()
        connection.server.resetAndDestroy()
        return
      case 'delay':
        await pause(Math.max(0, readMs + toxic.ms - performance.now()))
        break
      case 'slice':
        for (let at = 0; at < piece.length; at += toxic.bytes)
          await write(pipe.to, piece.subarray(at, at + toxic.bytes))
        return
      case undefined:
    }
    await write(pipe.to, piece)
  }
}

/** Resolves with whether the chunk was sent. */
const write = (to: Socket, piece: Buffer): Promise<boolean> =>
  new Promise((resolve) => {
    if (to.destroyed) return resolve(false)
    to.write(piece, (cause) => resolve(cause === undefined || cause === null))
  })
