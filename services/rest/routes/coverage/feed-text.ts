import type { Coverage } from '../../../bars/coverage.ts'
import { type Reader, sharedReader } from '../../../core/fair-queue.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { SymbolRecord } from '../../../core/feeds/symbol.ts'
import { SharedRun } from '../../../platform/serial.ts'
import type { Call } from '../../route.ts'

/** Maximum symbols whose coverage is read at once. */
const concurrencyMax = 8

/**
 * Coverage of all symbols of one feed as JSON. It is read and written once for all requests of one key that wait for it. A
 * request shares a reading that begins after it, so its answer has every window that was acknowledged before it.
 */
class FeedText {
  readonly #coverage: Coverage
  readonly #resolution: Resolution | undefined
  readonly #waiting = new Set<Reader>()
  /** As of the newest request. */
  #symbols: readonly SymbolRecord[] = []
  #feed: FeedDefinition
  #members: readonly string[] = []
  readonly #readings = new SharedRun(() => this.#read())

  constructor(feed: FeedDefinition, resolution: Resolution | undefined, coverage: Coverage) {
    this.#feed = feed
    this.#resolution = resolution
    this.#coverage = coverage
  }

  get isWanted(): boolean {
    return this.#waiting.size > 0
  }

  /** The members of the object, one of each symbol. */
  async of(feed: FeedDefinition, { view, reader }: Call): Promise<readonly string[]> {
    this.#feed = feed
    this.#symbols = view.symbolsOf(feed.key)
    this.#waiting.add(reader)
    try {
      await this.#readings.run()
      return this.#members
    } finally {
      this.#waiting.delete(reader)
    }
  }

  async #read(): Promise<void> {
    const symbols = this.#symbols
    const reader = sharedReader(this.#waiting)
    const of = await this.#coverage.ofFeed({ feed: this.#feed, reader, resolution: this.#resolution })
    const members = new Array<string>(symbols.length)
    const waiting = symbols.entries()
    const readNext = async (): Promise<void> => {
      for (const [i, symbol] of waiting)
        members[i] = `${JSON.stringify(symbol.symbol)}:${JSON.stringify(await of(symbol))}`
    }
    await Promise.all(Array.from({ length: concurrencyMax }, readNext))
    this.#members = members
  }
}

/** Keys share nothing here: the reads of one key never wait for those of another. */
export class FeedTexts {
  readonly #coverage: Coverage
  readonly #texts = new Map<string, FeedText>()

  constructor(coverage: Coverage) {
    this.#coverage = coverage
  }

  async of(feed: FeedDefinition, resolution: Resolution | undefined, call: Call): Promise<readonly string[]> {
    const id = `${feed.key} ${resolution} ${call.key.id}`
    const text = this.#texts.get(id) ?? new FeedText(feed, resolution, this.#coverage)
    this.#texts.set(id, text)
    try {
      return await text.of(feed, call)
    } finally {
      if (!text.isWanted) this.#texts.delete(id)
    }
  }
}
