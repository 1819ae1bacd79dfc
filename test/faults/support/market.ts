import type { RevisedBar } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'

export const symbols = ['EURUSD', 'GBPUSD', 'USDCHF'] as const
export const feed = 'BROKERA:ZERO'

/** A feed that collectors of the test push. */
export const manifestOf = (names: readonly string[]): string => `apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: { name: brokera-zero }
spec:
  broker: BROKERA
  account: ZERO
  clock: { mode: UTC }
  quoteBasis: Bid
  resolutions: ["1", "30"]
  symbols: { list: [${names.map((raw) => `{ raw: ${raw}, type: forex, digits: 5 }`).join(', ')}] }
  source: { type: Push }
`
export const manifest = manifestOf(symbols)

export const minuteSeconds = 60
const daySeconds = 86_400
/** Age of the first bar of history. A run sends about 3,000 bars a second and must not reach the present. */
const historyDays = 4_000
const bucketSeconds = 1_800
/** Added to the high, so that it is above all other prices of a bar. */
const span = 0.4

export type Batch = ReadonlyMap<string, readonly RevisedBar[]>

export interface MarketOptions {
  readonly symbols?: readonly string[]
  /** Age of the first live minute in seconds. */
  readonly liveBackSeconds?: number
  /** Whether a symbol has no trade in about one minute of four. */
  readonly isThin?: boolean
}

/** Bars as a terminal shows them: new minutes, corrections, late readings and history, drawn from a seed. */
export class Market {
  /** First times of live bars and of history, both at the start of a 30-minute bar. */
  readonly liveBegin: number
  readonly historyBegin: number
  readonly symbols: readonly string[]
  readonly random: () => number
  readonly #isThin: boolean
  readonly #revisionBegin = Date.now() - daySeconds * 1_000
  #revision = this.#revisionBegin
  #minute = 0
  #history = 0

  constructor(random: () => number, now: number = Date.now(), options: MarketOptions = {}) {
    this.random = random
    this.symbols = options.symbols ?? symbols
    this.#isThin = options.isThin ?? false
    const today = Math.floor(now / 1_000 / bucketSeconds) * bucketSeconds
    this.liveBegin = today - (options.liveBackSeconds ?? 30 * daySeconds)
    this.historyBegin = today - historyDays * daySeconds
  }

  any(count: number): number {
    return Math.floor(this.random() * count)
  }

  /** The next minute of all symbols; for some also a correction or a late reading of an earlier minute. */
  live(): Batch {
    const batch = new Map<string, RevisedBar[]>()
    for (const [i, symbol] of this.symbols.entries()) {
      if (this.#isQuiet(i, this.#minute)) continue
      const newest = this.#bar(this.#live(this.#minute), ++this.#revision)
      const before = this.any(this.#minute)
      if (this.#minute === 0 || this.#isQuiet(i, before) || this.random() < 0.5) batch.set(symbol, [newest])
      else batch.set(symbol, [this.#again(this.#live(before)), newest])
    }
    this.#minute++
    return batch
  }

  /** The first symbol trades in each minute. The others are quiet for two or more minutes at a time. */
  #isQuiet(symbol: number, minute: number): boolean {
    const mixed = Math.imul(64 * (minute >> 1) + symbol, 0x9e3779b1)
    return this.#isThin && symbol > 0 && Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 30 === 0
  }

  /** Number of minutes that `live` has returned. */
  get minutes(): number {
    return this.#minute
  }

  /** A newer reading of the newest minutes of each symbol. */
  corrections(minutes: number): Batch {
    const first = Math.max(0, this.#minute - minutes)
    return this.readAgain(first, this.#minute - first)
  }

  /** A newer reading of `count` minutes of each symbol, as another collector would make it. */
  readAgain(first: number, count: number): Batch {
    return new Map(
      this.symbols.map((symbol) => [
        symbol,
        Array.from({ length: count }, (_, i) => this.#bar(this.#live(first + i), ++this.#revision)),
      ]),
    )
  }

  /** A piece of history of one symbol; it overlaps the piece before. */
  history(size: number = 200 + this.any(800)): Batch {
    return this.#piece(size, [this.symbols[this.any(this.symbols.length)] ?? symbols[0]])
  }

  historyOfAll(size: number): Batch {
    return this.#piece(size, this.symbols)
  }

  #piece(size: number, of: readonly string[]): Batch {
    const first = this.historyBegin + this.#history * minuteSeconds
    this.#history += size - this.any(100)
    const bars = () =>
      Array.from({ length: size }, (_, i) => this.#bar(first + i * minuteSeconds, ++this.#revision))
    return new Map(of.map((symbol) => [symbol, bars()]))
  }

  #live(minute: number): number {
    return this.liveBegin + minute * minuteSeconds
  }

  /** A correction, or a reading older than the stored one, which must change nothing. */
  #again(time: number): RevisedBar {
    const isCorrection = this.random() < 0.7
    const age = Math.min(1 + this.any(5_000), this.#revision - this.#revisionBegin - 1)
    return this.#bar(time, isCorrection ? ++this.#revision : this.#revision - age)
  }

  /** All values follow from the revision, so two readings always differ. */
  #bar(time: number, revision: number): RevisedBar {
    const count = revision - this.#revisionBegin
    const steps = (count * 7) % 40_000
    const price = (of: number): number => Math.round(of * 100_000) / 100_000
    return {
      time: feedSeconds(time),
      open: price(1.1 + steps / 100_000),
      high: price(1.5 + span + steps / 100_000),
      low: price(0.5 + steps / 100_000),
      close: price(1.2 + steps / 100_000),
      volume: count,
      revision,
    }
  }
}
