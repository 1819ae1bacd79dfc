import type { Bar } from '../core/bars/bar.ts'
import { feedNow } from '../core/clocks/feed-clock.ts'
import { type CompoundKey, feedOf } from '../core/feeds/compound-key.ts'
import { Backoff, reconnectMaxMs } from '../platform/backoff.ts'
import type { Log } from '../platform/log/log.ts'
import type { Clock } from '../ports/clock.ts'
import { Compared, type NamedGap, rememberedMax } from './compared.ts'
import { type CanaryMetrics, type CanaryStatus, endLabel } from './metrics.ts'
import type { RestClient } from './rest-client.ts'
import { CanarySocket, type SocketEnd, type SocketListener } from './socket.ts'

const barSeconds = 60
/** Minimum duration of a stable socket; after it the next pause is short again. */
const stableMs = 60_000
const closeTimeoutMs = 1_000
/** Maximum wait of the first socket for the first comparison with history. */
const firstComparisonMaxMs = 10_000

export interface CanaryDeps {
  /** Base URL of the stream, without a slash at its end. */
  readonly streamUrl: string
  /** Called for each connection, because the file of the key may be replaced. */
  readonly key: () => string
  readonly symbols: readonly CompoundKey[]
  /** Interval of comparisons with history, and the time after which a bar that was not pushed counts as missed. */
  readonly settleMs: number
  readonly rest: RestClient
  readonly clock: Clock
  readonly log: Log
  readonly metrics: CanaryMetrics
  readonly signal: AbortSignal
}

/**
 * A well-behaved client with one socket. It reconnects with jitter, subscribes again and requests missed bars with
 * `since`. It also compares pushed bars with history.
 */
export class Canary implements SocketListener {
  readonly #deps: CanaryDeps
  readonly #compared: ReadonlyMap<string, Compared>
  readonly #subscribed = new Set<string>()
  readonly #rejected = new Set<string>()
  #offsets: ReadonlyMap<string, number> = new Map()
  #socket: CanarySocket | undefined
  #comparedMs: number

  constructor(deps: CanaryDeps) {
    this.#deps = deps
    this.#compared = new Map(deps.symbols.map((symbol) => [symbol, new Compared(deps.settleMs)]))
    this.#comparedMs = deps.clock.monotonicMs()
  }

  get status(): CanaryStatus {
    return {
      isOpen: this.#subscribed.size > 0,
      subscribed: this.#subscribed.size,
      rejected: this.#rejected.size,
      comparedAgeSeconds: (this.#deps.clock.monotonicMs() - this.#comparedMs) / 1_000,
    }
  }

  /** Runs until the signal aborts; never rejects. */
  async run(): Promise<void> {
    const { clock, signal } = this.#deps
    // The first comparison finds the end of each symbol's history; the first socket requests later bars.
    const first = this.#compareAll()
    await Promise.race([first, clock.sleep(firstComparisonMaxMs, signal)])
    await Promise.all([this.#keepConnected(), first.then(() => this.#compareAgain())])
  }

  async #keepConnected(): Promise<void> {
    const { clock, signal, log } = this.#deps
    const pauses = new Backoff(clock, { maxMs: reconnectMaxMs })
    const refusals = new Backoff(clock)
    while (!signal.aborted) {
      const begunMs = clock.monotonicMs()
      const end = await this.#runSocket()
      if (signal.aborted) return
      const { code, why, retryAfterMs } = end
      if (clock.monotonicMs() - begunMs > stableMs) for (const each of [pauses, refusals]) each.reset()
      const pauseMs = retryAfterMs + (needsOperator(code) ? refusals : pauses).nextMs()
      log.warn({ code, why, retryInMs: pauseMs }, 'socket ended; retrying')
      await clock.sleep(pauseMs, signal)
    }
  }

  async #runSocket(): Promise<SocketEnd> {
    const { streamUrl: url, clock, signal, metrics } = this.#deps
    try {
      this.#socket = new CanarySocket({ url, key: this.#deps.key(), clock, listener: this })
    } catch (cause) {
      metrics.ends.inc({ code: endLabel(undefined) })
      return { code: undefined, retryAfterMs: 0, why: (cause as Error).message }
    }
    const socket = this.#socket
    const close = (): void => {
      socket.close()
      clock.after(closeTimeoutMs, () => socket.terminate())
    }
    signal.addEventListener('abort', close)
    const end = await socket.ended
    signal.removeEventListener('abort', close)
    this.#socket = undefined
    this.#markUnsubscribed([...this.#subscribed])
    metrics.ends.inc({ code: endLabel(end.code) })
    return end
  }

  opened(): void {
    this.#rejected.clear()
    this.#subscribe([...this.#compared.keys()])
  }

  #subscribe(symbols: readonly string[]): void {
    const since = symbols.flatMap((symbol) => {
      const newest = this.#compared.get(symbol)?.newest
      return newest === undefined ? [] : [[symbol, newest] as const]
    })
    if (symbols.length > 0) this.#socket?.subscribe(symbols, Object.fromEntries(since))
  }

  subscribed(symbols: readonly string[], rejected: readonly string[]): void {
    for (const symbol of symbols) {
      this.#subscribed.add(symbol)
      this.#rejected.delete(symbol)
      this.#compared.get(symbol)?.live(true, this.#deps.clock.monotonicMs())
    }
    for (const symbol of rejected) this.#rejected.add(symbol)
    if (rejected.length > 0) this.#deps.log.warn({ rejected }, 'symbols of the canary rejected')
  }

  unsubscribed(symbols: readonly string[]): void {
    this.#markUnsubscribed(symbols)
    for (const symbol of symbols) this.#rejected.add(symbol)
    this.#deps.log.warn({ symbols }, 'symbols of the canary unavailable: the service withdrew them')
  }

  #markUnsubscribed(symbols: readonly string[]): void {
    for (const symbol of symbols) {
      this.#subscribed.delete(symbol)
      this.#compared.get(symbol)?.live(false, this.#deps.clock.monotonicMs())
    }
  }

  bar(symbol: string, bar: Bar): void {
    const compared = this.#compared.get(symbol)
    if (!compared) return
    const { clock, metrics } = this.#deps
    const feed = feedOf(symbol as CompoundKey)
    const offset = this.#offsets.get(feed)
    if (offset !== undefined) {
      const closedMs = (bar.time + barSeconds + offset) * 1_000
      metrics.arrival.observe({ feed }, Math.max(0, clock.utcMs() - closedMs) / 1_000)
    }
    metrics.pushed.inc({ feed })
    compared.pushed(bar, clock.monotonicMs())
  }

  gaps(gaps: readonly (NamedGap & { readonly symbol: string })[]): void {
    for (const gap of gaps) {
      const compared = this.#compared.get(gap.symbol)
      if (!compared) continue
      const { clock, metrics } = this.#deps
      const feed = feedOf(gap.symbol as CompoundKey)
      compared.gap(gap, feedNow(clock.utcMs(), this.#offsets.get(feed), undefined))
      metrics.gaps.inc({ feed })
    }
  }

  async #compareAgain(): Promise<void> {
    const { clock, signal, settleMs } = this.#deps
    for (;;) {
      await clock.sleep(settleMs, signal)
      if (signal.aborted) return
      await this.#compareAll()
      // A feed may be added after its canary started.
      this.#subscribe([...this.#rejected])
    }
  }

  /** Sends one request after the other. A failure of one symbol does not affect the others. */
  async #compareAll(): Promise<void> {
    const { rest, clock, signal } = this.#deps
    const offsets = async (): Promise<void> => void (this.#offsets = await rest.clockOffsets())
    let isWhole = await this.#attempt(offsets, 'the status')
    for (const [symbol, compared] of this.#compared) {
      if (signal.aborted) return
      const compare = async (): Promise<void> =>
        this.#count(symbol, compared, await rest.newestBars(symbol, rememberedMax))
      if (!(await this.#attempt(compare, symbol))) isWhole = false
    }
    if (isWhole) this.#comparedMs = clock.monotonicMs()
  }

  async #attempt(run: () => Promise<void>, what: string): Promise<boolean> {
    try {
      await run()
      return true
    } catch (cause) {
      if (!this.#deps.signal.aborted)
        this.#deps.log.warn({ err: cause, what }, 'REST request failed; retrying')
      return false
    }
  }

  #count(symbol: string, compared: Compared, history: readonly Bar[]): void {
    const { metrics, clock, log } = this.#deps
    const newest = history.at(-1)
    // Bars that history has at the start were pushed before this canary ran.
    if (newest && compared.newest === undefined) compared.follow(newest.time)
    const { missed, differing } = compared.compare(history, clock.monotonicMs())
    const feed = feedOf(symbol as CompoundKey)
    metrics.missed.inc({ feed }, missed)
    metrics.differing.inc({ feed }, differing)
    if (missed > 0)
      log.error(
        { symbol, bars: missed },
        'canary missed bars: history has them, the socket did not receive them',
      )
  }
}

/** True when the key, its grants or its address are wrong: pauses grow, because reconnecting does not help. */
const needsOperator = (code: number | undefined): boolean =>
  code === 401 || code === 403 || (code !== undefined && code >= 4500 && code < 5000)
