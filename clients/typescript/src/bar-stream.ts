import { Clocks } from './clocks.ts'
import { FxdError } from './error.ts'
import type { Followed } from './followed.ts'
import type { Frame } from './frames.ts'
import { pages } from './history.ts'
import { Items } from './items.ts'
import { Liveness } from './liveness.ts'
import { jitterMs, sleep } from './pause.ts'
import { refusal } from './refusal.ts'
import type { Rest } from './rest.ts'
import { Socket, type SocketEnd } from './socket.ts'
import { Subscriptions, type SubscriptionsDeps } from './subscriptions.ts'
import type { Item, Logger, Position, Range, Verdict } from './types.ts'

const tickMs = 1_000
const reviewTicks = 20
/** A socket that lasted for longer was no failure. */
const stableMs = 10_000
/** At most this often the client asks why an upgrade was refused. */
const askMs = 5_000

interface BarStreamDeps {
  readonly rest: Rest
  readonly wsUrl: string
  readonly logger: Logger
  /** Maximum items that wait for the program. */
  readonly buffer: number
  readonly wanted: readonly string[]
  /** What the program gave as `after`. */
  readonly position: Position
  readonly startOf: SubscriptionsDeps['startOf']
  readonly withRevisions: boolean
  /** All streams that run. */
  readonly running: Set<BarStream<Item>>
}

/**
 * Bars of some symbols, from any time into the present: of each symbol each bar once, in ascending order. It ends
 * with an `FxdError`, or when the program leaves the loop. It connects when the first item is wanted.
 */
export class BarStream<I extends Item> implements AsyncIterableIterator<I, undefined, undefined> {
  readonly #deps: BarStreamDeps
  readonly #items: Items
  readonly #abort = new AbortController()
  readonly #clocks: Clocks
  readonly #liveness = new Liveness()
  readonly #toRead: Followed[] = []
  readonly #position: Record<string, number>
  #subscriptions: Subscriptions | undefined
  #socket: Socket | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #ticks = 0
  #isStarted = false
  #isReadingHistory = false
  #isFull = false
  /** Code of the last `error` frame of the socket, which says why the service closes. */
  #code = ''
  #error: Error | undefined
  /** Whether the next socket is told to the logger. */
  #isRetrying = false

  constructor(deps: BarStreamDeps) {
    this.#deps = deps
    // A symbol that joins later, or is not wanted now, keeps its time.
    this.#position = { ...deps.position }
    this.#items = new Items(deps.buffer)
    this.#clocks = new Clocks(deps.rest, this.#abort.signal, (feed, from, to) =>
      this.#subscriptions?.gapOfClock(feed, from, to),
    )
  }

  /** Store it, and give it as `after`: then the bars behind it follow. The bar in hand is included. */
  get position(): Position {
    return { ...this.#position }
  }

  /** By feed, whether silence means that nothing trades. */
  get liveness(): Readonly<Record<string, Verdict>> {
    return this.#liveness.verdicts(!this.#isFull, this.#socket?.isSound ?? false)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<I, undefined>> {
    if (!this.#isStarted) {
      this.#isStarted = true
      this.#deps.running.add(this)
      void this.#run().catch((cause: unknown) => this.#fail(cause))
    }
    return this.#wait()
  }

  /** Ends the stream: the socket is closed, and what was not taken is dropped. */
  return(): Promise<IteratorResult<I, undefined>> {
    this.#isStarted = true
    this.#error = undefined
    this.#items.clear()
    this.#stop()
    return Promise.resolve({ value: undefined, done: true })
  }

  async #wait(): Promise<IteratorResult<I, undefined>> {
    for (;;) {
      const item = this.#take()
      if (item) return { value: item, done: false }
      if (this.#error) throw this.#error
      if (this.#abort.signal.aborted) return { value: undefined, done: true }
      await this.#items.changed()
    }
  }

  #take(): I | undefined {
    const item = this.#items.shift()
    if (item?.type === 'bar') this.#position[item.symbol] = item.time
    return item as I | undefined
  }

  #fail(error: unknown): void {
    if (this.#abort.signal.aborted) return
    this.#error = error as Error
    this.#stop()
  }

  #stop(): void {
    this.#deps.running.delete(this)
    this.#abort.abort()
    clearInterval(this.#timer)
    this.#socket?.close()
    this.#items.wake()
  }

  async #run(): Promise<void> {
    const { rest, wanted, startOf, logger, withRevisions } = this.#deps
    const { retries } = rest
    this.#liveness.began(await this.#clocks.begin())
    this.#isRetrying = rest.retries > retries
    const { signal } = this.#abort
    if (signal.aborted) return
    this.#subscriptions = new Subscriptions(wanted, {
      startOf,
      clocks: this.#clocks,
      liveness: this.#liveness,
      logger,
      withRevisions,
      give: (item) => this.#give(item),
      began: (symbol, time) => void (this.#position[symbol] = time),
      send: (message) => this.#socket?.send(message),
      fail: (error) => this.#fail(error),
      coverage: (symbols) => this.#coverage(symbols),
      readHistory: (followed) => {
        this.#toRead.push(followed)
        void this.#readHistory().catch((cause: unknown) => this.#fail(cause))
      },
    })
    this.#timer = setInterval(() => this.#tick(), tickMs)
    await this.#keepConnected(this.#subscriptions, signal)
  }

  /** A failure that stays shows nothing: a key that is refused also loses its socket. */
  async #coverage(symbols: readonly string[]): Promise<Readonly<Record<string, readonly Range[]>>> {
    const { rest } = this.#deps
    const [symbol, ...others] = symbols
    const only = others.length === 0 ? symbol : undefined
    const ask = <T>(): Promise<{ readonly coverage: T }> =>
      rest.getPatiently('coverage', { symbol: only, resolution: '1' }, undefined, this.#abort.signal)
    try {
      return only === undefined
        ? (await ask<Record<string, Range[]>>()).coverage
        : { [only]: (await ask<Range[]>()).coverage }
    } catch {
      return {}
    }
  }

  async #keepConnected(subscriptions: Subscriptions, signal: AbortSignal): Promise<void> {
    const { rest, logger } = this.#deps
    let failures = 0
    let askedMs = -askMs
    while (!signal.aborted) {
      const key = await rest.readKey()
      const begunMs = performance.now()
      const { wasOpen, code, reason } = await this.#useSocket(key, subscriptions)
      subscriptions.closed()
      if (signal.aborted) return
      if (this.#isFull) {
        logger.warn?.('buffer is full; the socket is closed until it is empty', {
          buffer: this.#deps.buffer,
        })
        await this.#items.below(1)
        this.#isFull = false
        continue
      }
      const now = performance.now()
      if (wasOpen && now - begunMs > stableMs) failures = 0
      // A person must act first, unless the key was rotated.
      if (code >= 4_500 && code < 5_000 && (await rest.readKey()) === key)
        throw new FxdError(this.#code, `the service closed the socket: ${code} ${reason}`, {
          closeCode: code,
          closeReason: reason,
        })
      let leastMs = 0
      if (!wasOpen && now - askedMs >= askMs) {
        askedMs = now
        leastMs = await refusal(rest, logger, signal)
      }
      const retryInMs = leastMs + jitterMs(failures++)
      this.#isRetrying = true
      logger.info?.('socket ended; retrying', { code, reason, retryInMs })
      await sleep(retryInMs, signal)
    }
  }

  #useSocket(key: string, subscriptions: Subscriptions): Promise<SocketEnd> {
    this.#code = 'CLOSED'
    const url = `${this.#deps.wsUrl}/v1/stream?api_key=${encodeURIComponent(key)}`
    return new Promise((resolve) => {
      this.#socket = new Socket(url, {
        received: (frame) => this.#receive(frame, subscriptions),
        ended: resolve,
      })
    })
  }

  #receive(frame: Frame, subscriptions: Subscriptions): void {
    if (frame.type === 'error' && frame.code !== 'GAP') this.#code = frame.code
    subscriptions.received(frame)
    if (frame.type !== 'connected') return
    subscriptions.opened()
    if (this.#isRetrying) this.#deps.logger.info?.('connected again', { url: this.#deps.wsUrl })
    this.#isRetrying = false
  }

  #give(item: Item): boolean {
    if (item.type !== 'gap' && this.#items.length >= this.#items.capacity) {
      if (!this.#isFull) {
        this.#isFull = true
        this.#socket?.close()
      }
      return false
    }
    this.#items.push(item)
    return true
  }

  #tick(): void {
    this.#socket?.tick()
    this.#subscriptions?.tick()
    this.#ticks += 1
    if (this.#ticks % reviewTicks === 0) void this.#clocks.review()
  }

  /** Reads one symbol after the other. It leaves half of the buffer to live bars. */
  async #readHistory(): Promise<void> {
    if (this.#isReadingHistory) return
    this.#isReadingHistory = true
    const { signal } = this.#abort
    const { capacity } = this.#items
    for (let followed = this.#toRead.shift(); followed; followed = this.#toRead.shift()) {
      const { symbol, since = 0, historyTo: to } = followed
      const wanted = { symbol, resolution: '1', from: since + 1, to, signal } as const
      for await (const page of pages(this.#deps.rest, wanted))
        for (const bar of page) {
          if (this.#items.length >= capacity / 2) await this.#items.below(capacity / 4)
          if (signal.aborted) return
          this.#subscriptions?.giveHistory(followed, bar)
        }
      this.#subscriptions?.historyRead(followed)
    }
    this.#isReadingHistory = false
  }
}
