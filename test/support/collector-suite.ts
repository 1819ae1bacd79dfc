import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest'
import { type CollectorDeps, runCollector } from '../../services/collector/collector.ts'
import type { SourceSymbol } from '../../services/collector/sources/source.ts'
import { toList } from '../../services/core/bar.ts'
import { compoundKey } from '../../services/core/compound-key.ts'
import { joinSpans } from '../../services/core/coverage.ts'
import type { FeedDefinition } from '../../services/core/feed.ts'
import { feedSeconds } from '../../services/core/feed-clock.ts'
import { silentLog } from '../../services/platform/log/log.ts'
import type { Stores } from '../../services/ports/stores.ts'
import { defineFeed, houseToken, type IngestFixture, startIngest } from './ingest-fixture.ts'
import { PaperTerminal, paperSymbol } from './paper-terminal.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

const start = Date.UTC(2026, 0, 5, 12)
const feedsMax = 20
/** So long a busy machine may take for what is no matter of time. */
const patienceMs = 30_000
const testTimeoutMs = 60_000
export const minute = 60
export const hour = 3_600
export const day = 86_400

/** Opens of the minutes in `[from, to)`. */
export const minutes = (from: number, to: number): number[] =>
  Array.from({ length: (to - from) / minute }, (_, i) => from + i * minute)

const feedOf = (account: string): FeedDefinition =>
  defineFeed({ account, depth: { '1': '2d' }, resolutions: ['1'], symbols: { suffixes: ['.z'], list: [] } })

/** One ingest for the tests of a file; each test has a feed of its own, and collectors that end with it. */
export class CollectorSuite {
  readonly #feeds = Array.from({ length: feedsMax }, (_, i) => feedOf(`T${i}`))
  #next = 0
  #noon = 0
  #clock: VirtualClock | undefined
  #fixture: IngestFixture | undefined
  #stopping = new AbortController()
  #running: Promise<void>[] = []

  constructor() {
    vi.setConfig({ testTimeout: testTimeoutMs, hookTimeout: testTimeoutMs })
    beforeAll(async () => {
      this.#clock = createVirtualClock({ start })
      this.#fixture = await startIngest(this.#feeds, { clock: this.#clock })
    })
    afterAll(() => this.#fixture?.remove())
    beforeEach(async () => {
      await this.clock.advance(60_000 - (this.clock.utcMs() % 60_000))
      this.#noon = this.clock.utcMs() / 1000
      this.#next += 1
      this.fixture.events.length = 0
      this.#stopping = new AbortController()
      this.#running = []
    })
    afterEach(async () => {
      this.#stopping.abort()
      await Promise.all([...this.#running, this.clock.advance(40_000)])
    })
  }

  /** The beginning of the minute in which the test began. */
  get noon(): number {
    return this.#noon
  }

  /** The feed of this test; its clock is UTC, its depth two days of minutes. */
  get feed(): FeedDefinition {
    const feed = this.#feeds[this.#next - 1]
    if (!feed) throw new Error('more tests than feeds')
    return feed
  }

  get clock(): VirtualClock {
    if (!this.#clock) throw new Error('no test has begun')
    return this.#clock
  }

  get fixture(): IngestFixture {
    if (!this.#fixture) throw new Error('no test has begun')
    return this.#fixture
  }

  /** Ends ingest, cutting every call off, and starts it again on the same folder and port. */
  async restart(around?: (stores: Stores) => Stores, meanwhile: () => Promise<void> = async () => undefined) {
    const { folder, port } = this.fixture
    await this.fixture.close(0)
    await meanwhile()
    this.#fixture = await startIngest(this.#feeds, {
      clock: this.clock,
      folder,
      port,
      ...(around && { around }),
    })
  }

  terminal(
    symbols: readonly SourceSymbol[] = [paperSymbol('EURUSD.z')],
    reads: 'pieces' | 'whole' = 'pieces',
  ): PaperTerminal {
    const now = (): number => Math.floor(this.clock.utcMs() / 1000)
    return new PaperTerminal(symbols, now, { rereadable: true, reads })
  }

  collect(source: PaperTerminal, kept: Pick<CollectorDeps, 'spool' | 'metrics' | 'dial'> = {}): void {
    const { address } = this.fixture
    const identity = () => ({ token: houseToken })
    const shared = { clock: this.clock, log: silentLog, signal: this.#stopping.signal, identity }
    this.#running.push(
      runCollector({ ...shared, ...kept, definition: this.feed, source, address: () => address }),
    )
  }

  /** Resolves once every collector has ended; others may be started then. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running)
    this.#stopping = new AbortController()
    this.#running = []
  }

  async stored(name = 'EURUSD') {
    const series = { feed: this.feed.key, symbol: compoundKey(this.feed.key, name), resolution: '1' } as const
    const to = feedSeconds(start / 500)
    return toList(await this.fixture.stores.bars.read({ series, from: feedSeconds(0), to }))
  }

  async times(name?: string): Promise<number[]> {
    return (await this.stored(name)).map(({ time }) => time)
  }

  pushed(): number[] {
    return this.fixture.events.flatMap(({ event }) =>
      event.type === 'bars' ? event.bars.map(({ bar }) => bar.time) : [],
    )
  }

  /** Name (`*`: the whole catalogue), from, to. */
  async windows(): Promise<[string, number, number][]> {
    const windows = await this.fixture.stores.windows.of(this.feed.key)
    return windows.map(({ symbol, from, to }) => [symbol?.split(':')[2] ?? '*', from, to])
  }

  /** What windows say of one symbol, its own and the catalogue's since it is listed. */
  async covered(name: string): Promise<[number, number][]> {
    const view = this.fixture.registry.view()
    const since = view.symbol(compoundKey(this.feed.key, name))?.since ?? Number.POSITIVE_INFINITY
    const windows = (await this.windows()).filter(([of]) => of === name || of === '*')
    const spans = windows.map(([of, from, to]) => ({
      from: feedSeconds(of === '*' ? Math.max(from, since) : from),
      to: feedSeconds(to),
    }))
    return joinSpans(spans).map(({ from, to }) => [from, to])
  }

  /** Waits until history as deep as the feed wants it is stored and covered. */
  async settled(): Promise<void> {
    const isCovered = async (): Promise<boolean> => (await this.windows())[0]?.[1] === this.#noon - 2 * day
    await vi.waitUntil(isCovered, { timeout: patienceMs })
  }
}
