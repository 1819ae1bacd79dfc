import { type Bars, barCount } from '../../core/bars/bar.ts'
import { barTimeMax } from '../../core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { LiveBar } from '../../ports/bus.ts'
import type { Cancel } from '../../ports/clock.ts'
import type { SharedDeps } from '../deps.ts'
import type { LiveSymbol } from './live-symbol.ts'
import { lostMsMax, waitEndMs } from './lost-positions.ts'

/** Maximum wait of queued bars until the store shows the lost bars, and then for each of its answers. */
export const queuedMsMax = 10_000
const readRetryMs = 250
/** Maximum bars that are read for one symbol: four hours. A GAP frame names a longer hole. */
export const refillBarsMax = 240
/** Maximum reads at once for one hole: half of the read connections to QuestDB; replays and REST have the others. */
const readsAtOnce = 8
/** Maximum queued bars of one hole: as many as the tail of the bus keeps for history. */
const queuedBarsMax = 100_000
const reader = serviceReader('refill')

/** A symbol with a subscriber. Bars that open after `last` may be missing. */
export interface WantedSymbol {
  readonly live: LiveSymbol
  readonly last: FeedSeconds | undefined
}

interface Reading {
  readonly wanted: readonly WantedSymbol[]
  readonly found: Map<LiveSymbol, Bars>
}

type HoleDeps = Pick<SharedDeps, 'clock' | 'bars' | 'metrics'>

/**
 * A hole in the events of a feed. Bars that arrive after the loss are queued until the store shows everything up to
 * it. Then the missed bars are read. `onEnd` is called when they are there, or when they did not come in time.
 */
export class Hole {
  readonly #deps: HoleDeps
  readonly #feed: FeedKey
  readonly #onEnd: () => void
  readonly #begunMs: number
  /** Bars that arrived after the first loss; `loss` marks each later loss. */
  readonly queued: (LiveBar | 'loss')[] = []
  /** Monotonic milliseconds of the first queued bar. */
  #queuedSinceMs: number | undefined
  #cancel: Cancel = () => undefined
  #reading: Reading | undefined

  constructor(deps: HoleDeps, feed: FeedKey, onEnd: () => void) {
    this.#deps = deps
    this.#feed = feed
    this.#onEnd = onEnd
    this.#begunMs = deps.clock.monotonicMs()
  }

  /** Since the store shows all lost bars: the symbols to read, and the bars read so far. */
  get reading(): Reading | undefined {
    return this.#reading
  }

  lost(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.queued.length > 0 && this.queued.at(-1) !== 'loss') this.queued.push('loss')
    this.#reading = undefined
    // Further losses move the end only while no bar is queued.
    const since = this.#queuedSinceMs
    this.#endAfter((since === undefined ? waitEndMs(nowMs, this.#begunMs) : since + queuedMsMax) - nowMs)
  }

  queue(bars: readonly LiveBar[]): void {
    if (bars.length === 0) return
    if (this.#queuedSinceMs === undefined) {
      this.#queuedSinceMs = this.#deps.clock.monotonicMs()
      if (!this.#reading) this.#endAfter(queuedMsMax)
    }
    this.queued.push(...bars)
    if (this.queued.length > queuedBarsMax) this.#onEnd()
  }

  /** The store shows all lost bars: reads them. */
  async fill(wanted: readonly WantedSymbol[]): Promise<void> {
    // A slow store is still faster than a request of each client.
    const endMs = this.#deps.clock.monotonicMs() + lostMsMax
    const reading = { wanted, found: new Map<LiveSymbol, Bars>() }
    this.#reading = reading
    const queue = [...wanted]
    const worker = async (): Promise<void> => {
      for (let next = queue.pop(); next; next = queue.pop()) {
        const bars = await this.#read(next, reading)
        if (this.#reading !== reading) return
        if (!bars) continue
        reading.found.set(next.live, bars)
        this.#endAfter(Math.min(queuedMsMax, endMs - this.#deps.clock.monotonicMs()))
      }
    }
    await Promise.all(Array.from({ length: readsAtOnce }, worker))
    // The deadline may have ended it, or the bus lost more: then the next `fill` begins again.
    if (this.#reading === reading) this.#onEnd()
  }

  close(): void {
    this.#cancel()
    this.#reading = undefined
  }

  /** Retries until the hole ends. Returns `undefined` if it is unknown what is missing, or if it is too long. */
  async #read({ live, last }: WantedSymbol, reading: Reading): Promise<Bars | undefined> {
    const { bars: store, clock, metrics } = this.#deps
    if (last === undefined) return undefined
    while (this.#reading === reading) {
      try {
        const bars = await store.read({
          series: { feed: this.#feed, symbol: live.symbol, resolution: '1' },
          from: feedSeconds(last + 1),
          to: barTimeMax,
          take: { count: refillBarsMax + 1, end: 'oldest' },
          reader,
        })
        return barCount(bars) > refillBarsMax ? undefined : bars
      } catch {
        // Clients see it in the GAP frame, operators in a metric.
        metrics.refillFailures.inc()
        await clock.sleep(readRetryMs)
      }
    }
    return undefined
  }

  #endAfter(delayMs: number): void {
    this.#cancel()
    this.#cancel = this.#deps.clock.after(Math.max(0, delayMs), this.#onEnd)
  }
}
