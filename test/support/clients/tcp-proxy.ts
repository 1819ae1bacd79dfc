import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** What happens to the bytes of one direction. */
export type Toxic =
  | { readonly kind: 'delay'; readonly ms: number }
  /** They vanish and the connection stays open: half of it is dead and nobody says so. */
  | { readonly kind: 'swallow' }
  /** They wait, from the first piece on that holds this text, until they are released. */
  | { readonly kind: 'hold'; readonly from: string }
  /** After so many bytes the connection is reset, wherever in a message that is. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  | { readonly kind: 'slice'; readonly bytes: number }

export interface Toxics {
  /** Towards the server. */
  readonly up?: Toxic
  /** Towards the client. */
  readonly down?: Toxic
  /** Of new connections: they are reset, or taken and never answered. */
  readonly connections?: 'refuse' | 'mute'
}

export interface TcpProxy {
  readonly host: string
  readonly port: number
  /** From here on, on open connections too. What was swallowed stays lost. */
  set(toxics: Toxics): void
  /** Resets every open connection. */
  reset(): void
  /** Resolves once bytes wait for their release. */
  held(): Promise<void>
  /**
   * What waited goes on, also when the client is gone meanwhile: a network may deliver late. Gives how
   * many bytes the server was still there for.
   */
  release(): Promise<number>
  close(): Promise<void>
}

type Direction = 'up' | 'down'

interface Way {
  readonly direction: Direction
  readonly to: Socket
  /** Pieces that wait for their release. */
  waiting: Buffer[]
  holds: boolean
  passed: number
  sending: Promise<unknown>
}

interface Link {
  readonly client: Socket
  readonly server: Socket
  readonly ways: readonly [Way, Way]
}

const host = '127.0.0.1'

/** Stands between a client and a server and harms what passes. */
export async function openTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const proxy = new Proxying(target)
  await proxy.listen()
  return proxy
}

class Proxying implements TcpProxy {
  readonly host = host
  port = 0
  readonly #target: { host: string; port: number }
  readonly #links = new Set<Link>()
  readonly #mute = new Set<Socket>()
  readonly #listener: Server
  #toxics: Toxics = {}
  #awaiting: (() => void)[] = []

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
    for (const { client, server } of this.#links) {
      client.resetAndDestroy()
      server.resetAndDestroy()
    }
    for (const socket of this.#mute) socket.resetAndDestroy()
    this.#links.clear()
    this.#mute.clear()
  }

  held(): Promise<void> {
    if ([...this.#links].some(({ ways }) => ways.some(({ holds }) => holds))) return Promise.resolve()
    return new Promise((resolve) => void this.#awaiting.push(resolve))
  }

  async release(): Promise<number> {
    this.#toxics = {}
    let delivered = 0
    for (const way of [...this.#links].flatMap(({ ways }) => ways.filter(({ holds }) => holds))) {
      way.holds = false
      for (const piece of way.waiting.splice(0)) if (await write(way.to, piece)) delivered += piece.length
    }
    return delivered
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
    const way = (direction: Direction, to: Socket): Way => ({
      direction,
      to,
      waiting: [],
      holds: false,
      passed: 0,
      sending: Promise.resolve(),
    })
    const ways = [way('up', server), way('down', client)] as const
    const link: Link = { client, server, ways: [...ways] }
    this.#links.add(link)
    this.#join(link, client, ways[0])
    this.#join(link, server, ways[1])
  }

  /** Carries what `from` sends, and its end. */
  #join(link: Link, from: Socket, way: Way): void {
    from.on('data', (piece) => {
      way.sending = way.sending.then(() => this.#carry(link, way, piece)).catch(() => undefined)
    })
    from.on('close', () => {
      // What is held outlives its sender.
      if (link.ways.some(({ holds }) => holds)) return
      void way.sending.finally(() => {
        way.to.destroy()
        if (link.client.destroyed && link.server.destroyed) this.#links.delete(link)
      })
    })
  }

  async #carry(link: Link, way: Way, piece: Buffer): Promise<void> {
    const toxic = this.#toxics[way.direction]
    if (way.holds) return void way.waiting.push(piece)
    way.passed += piece.length
    switch (toxic?.kind) {
      case 'swallow':
        return
      case 'hold':
        if (!piece.includes(toxic.from)) break
        way.holds = true
        way.waiting.push(piece)
        for (const resume of this.#awaiting.splice(0)) resume()
        return
      case 'cut':
        if (way.passed <= toxic.afterBytes) break
        await write(way.to, piece.subarray(0, Math.max(0, piece.length - (way.passed - toxic.afterBytes))))
        link.client.resetAndDestroy()
        link.server.resetAndDestroy()
        return
      case 'delay':
        await pause(toxic.ms)
        break
      case 'slice':
        for (let at = 0; at < piece.length; at += toxic.bytes)
          await write(way.to, piece.subarray(at, at + toxic.bytes))
        return
      case undefined:
    }
    await write(way.to, piece)
  }
}

/** Gives whether it went out. */
const write = (to: Socket, piece: Buffer): Promise<boolean> =>
  new Promise((resolve) => {
    if (to.destroyed) return resolve(false)
    to.write(piece, (cause) => resolve(cause === undefined || cause === null))
  })
