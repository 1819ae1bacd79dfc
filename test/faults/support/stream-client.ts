import { setTimeout as pause } from 'node:timers/promises'
import { type ClientOptions, WebSocket } from 'ws'
import type { Bar } from '../../../services/core/bars/bar.ts'
import type { ReceivedFrame, SocketRecord } from '../checks/check-sockets.ts'

const pingMs = 20_000
const jitterMs = 1_500
const upgradeMsMax = 15_000
/** Delay from the reply to the request of history, which must have all earlier pushed bars by then. */
const settleMs = 3_000

export interface StreamClientOptions {
  readonly name: string
  /** ws://host:port or wss://host:port */
  readonly url: string
  /** Options of the connection, such as trusted certificates. */
  readonly connection?: ClientOptions
  readonly key: string
  /** Prefix of a compound key. */
  readonly feed: string
  readonly symbols: readonly string[]
  /** Subscribes with `since`, to receive the missed bars. */
  readonly resumes: boolean
  readonly random: () => number
  /** Reads from history the times of a symbol's bars after a time; without it nothing is filled. */
  readonly fill?: (symbol: string, after: number) => Promise<readonly number[]>
  /** Called with each bar, in the turn in which its frame arrived. */
  readonly onBar?: (bar: Bar) => void
}

type Writable = SocketRecord & {
  subscribedMs: number
  seen: ReceivedFrame[]
  symbols: string[]
  since: Map<string, number>
  filled: Map<string, { after: number; times: Set<number> }>
}

interface Message {
  readonly type: string
  readonly symbol: string
  readonly bar: Bar
  readonly symbols?: readonly string[]
  readonly code?: string
  readonly since?: Readonly<Record<string, number>>
  readonly gaps?: readonly { symbol: string; after?: number; until?: number }[]
}

/** A correct client: it reconnects with jitter, subscribes again, reads missed bars, and records everything. */
export class StreamClient {
  readonly records: SocketRecord[] = []
  /** Count of each close code and each status of a refused upgrade. */
  readonly ends = new Map<number, number>()
  readonly #options: StreamClientOptions
  readonly #last = new Map<string, number>()
  #socket: WebSocket | undefined
  #record: Writable | undefined
  #isOver = false
  #running: Promise<void> = Promise.resolve()

  constructor(options: StreamClientOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  start(): this {
    this.#running = this.#run()
    return this
  }

  async stop(): Promise<void> {
    this.#isOver = true
    this.#socket?.terminate()
    await this.#running
  }

  /** The record of the open, subscribed socket. */
  get record(): SocketRecord | undefined {
    return this.isOpen ? this.#record : undefined
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await this.#openOnce()
      this.#record = undefined
      if (!this.#isOver) await pause(200 + this.#options.random() * jitterMs)
    }
  }

  /** Opens one socket; resolves when it has ended. */
  async #openOnce(): Promise<void> {
    const { url, key, connection } = this.#options
    const socket = new WebSocket(`${url}/v1/stream?api_key=${key}`, {
      ...connection,
      perMessageDeflate: false,
      handshakeTimeout: upgradeMsMax,
    })
    this.#socket = socket
    const ping = setInterval(() => this.isOpen && socket.send('{"action":"ping"}'), pingMs)
    await new Promise<void>((resolve) => {
      socket.once('open', () => this.#subscribe(socket))
      socket.on('message', (data) => this.#onMessage(JSON.parse(String(data)) as Message))
      socket.once('unexpected-response', (_request, response) => {
        this.#count(response.statusCode ?? 0)
        response.resume()
        socket.terminate()
        resolve()
      })
      socket.on('error', () => undefined)
      socket.once('close', (code) => {
        if (!this.#isOver && this.#record !== undefined) this.#count(code)
        resolve()
      })
    })
    clearInterval(ping)
  }

  #count(end: number): void {
    this.ends.set(end, (this.ends.get(end) ?? 0) + 1)
  }

  #subscribe(socket: WebSocket): void {
    const { feed, symbols, resumes } = this.#options
    const keys = symbols.map((symbol) => `${feed}:${symbol}`)
    const since = resumes &&
      this.#last.size > 0 && {
        since: Object.fromEntries([...this.#last].map(([symbol, time]) => [`${feed}:${symbol}`, time])),
      }
    socket.send(JSON.stringify({ action: 'subscribe', symbols: keys, type: 'bar', ...since }))
  }

  #onMessage(message: Message): void {
    const symbolOf = (key: string): string => key.slice(this.#options.feed.length + 1)
    if (message.type === 'subscribed') {
      const record: Writable = {
        id: `${this.#options.name}#${this.records.length + 1}`,
        symbols: (message.symbols ?? []).map(symbolOf),
        subscribedMs: performance.now(),
        since: new Map(Object.entries(message.since ?? {}).map(([symbol, time]) => [symbolOf(symbol), time])),
        seen: [],
        filled: new Map(),
      }
      this.#record = record
      this.records.push(record)
      if (!this.#options.resumes) void this.#fill(record, new Map(this.#last))
      return
    }
    const record = this.#record
    if (record === undefined) return
    if (message.type === 'bar') {
      const symbol = symbolOf(message.symbol)
      record.seen.push({ type: 'bar', symbol, bar: message.bar })
      this.#last.set(symbol, message.bar.time)
      this.#options.onBar?.(message.bar)
    } else if (message.code === 'GAP')
      for (const { symbol, after = 0, until = Number.POSITIVE_INFINITY } of message.gaps ?? [])
        record.seen.push({ type: 'gap', symbol: symbolOf(symbol), after, until })
  }

  /** Reads from history the bars of three symbols that arrived while there was no socket. */
  async #fill(record: Writable, last: ReadonlyMap<string, number>): Promise<void> {
    const { fill } = this.#options
    if (fill === undefined) return
    await pause(settleMs)
    for (const [symbol, after] of [...last].slice(0, 3)) {
      while (!this.#isOver) {
        try {
          record.filled.set(symbol, { after, times: new Set(await fill(symbol, after)) })
          break
        } catch {
          // Retry: history reports a failure as such.
          await pause(500)
        }
      }
    }
  }
}
