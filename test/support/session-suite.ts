import { afterAll, beforeAll, beforeEach } from 'vitest'
import { toList } from '../../services/core/bar.ts'
import { compoundKey } from '../../services/core/compound-key.ts'
import type { FeedDefinition } from '../../services/core/feed.ts'
import { feedSeconds } from '../../services/core/feed-clock.ts'
import type { Resolution } from '../../services/core/resolution.ts'
import type { BusEvent } from '../../services/ports/bus.ts'
import type { Stores } from '../../services/ports/stores.ts'
import { defineFeed, type IngestFixture, startIngest } from './ingest-fixture.ts'
import { RawSession } from './raw-session.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

const start = Date.UTC(2026, 0, 5, 12)
const feedsMax = 40

/** A feed for each test, so that all share one ingest and one store. */
const feedOf = (account: string): FeedDefinition =>
  defineFeed({
    account,
    symbols: { suffixes: ['.z'], list: [{ raw: 'EURUSD.z', type: 'forex', digits: 5 }] },
  })

/** One ingest for the tests of a file; each test finds a feed of its own, at the beginning of a minute. */
export class SessionSuite {
  readonly mid = defineFeed({
    broker: 'BROKERB',
    account: 'LIVE',
    quoteBasis: 'Mid',
    clock: { mode: 'Fixed', offsetSeconds: -10_800 },
    symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] },
  })
  readonly measured = defineFeed({
    broker: 'BROKERB',
    account: 'MEASURED',
    clock: { mode: 'Measured' },
    symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] },
  })
  readonly #feeds = Array.from({ length: feedsMax }, (_, i) => feedOf(`T${i}`))
  #next = 0
  #clock: VirtualClock | undefined
  #fixture: IngestFixture | undefined
  /** What the store and the bus were asked, in order. */
  readonly order: string[] = []
  leasesAreLost = false
  /** Backfill is committed only while this has resolved. */
  backfillGate: Promise<void> = Promise.resolve()
  /** A lease is granted only once this has resolved. */
  leaseGate: Promise<void> = Promise.resolve()
  /** Comes between the live lane and the store; rejects where the disk is full. */
  liveWrite: (write: () => Promise<void>) => Promise<void> = (write) => write()
  /** Comes between windows and the store; `count`: so many of one write. */
  windowsWrite: (write: () => Promise<void>, count: number) => Promise<void> = (write) => write()

  /** `more`: feeds beside those that every suite has. */
  constructor({ more = [] }: { readonly more?: readonly FeedDefinition[] } = {}) {
    beforeAll(async () => {
      this.#clock = createVirtualClock({ start })
      const definitions = [feedOf('ZERO'), this.mid, this.measured, ...this.#feeds, ...more]
      const around = (stores: Stores): Stores => this.#watched(stores)
      this.#fixture = await startIngest(definitions, { clock: this.#clock, around })
    })
    afterAll(() => this.#fixture?.remove())
    beforeEach(async () => {
      await this.clock.advance(60_000 - (this.clock.utcMs() % 60_000))
      this.#next += 1
      this.fixture.events.length = 0
      this.order.length = 0
      this.liveWrite = (write) => write()
      this.windowsWrite = (write) => write()
      this.leaseGate = Promise.resolve()
    })
  }

  get clock(): VirtualClock {
    if (!this.#clock) throw new Error('the suite has not begun')
    return this.#clock
  }

  get fixture(): IngestFixture {
    if (!this.#fixture) throw new Error('the suite has not begun')
    return this.#fixture
  }

  /** The feed of this test; its clock is UTC, EURUSD.z its symbol. */
  get feed(): FeedDefinition {
    const feed = this.#feeds[this.#next - 1]
    if (!feed) throw new Error('more tests than feeds')
    return feed
  }

  /** The beginning of the minute that it was when the test began, on a feed with UTC. */
  get minute(): number {
    return Math.floor(this.clock.utcMs() / 60_000) * 60
  }

  connect(): RawSession {
    return new RawSession(this.fixture.address)
  }

  async stored(symbol = 'EURUSD', resolution: Resolution = '1', feed = this.feed.key) {
    const series = { feed, symbol: compoundKey(feed, symbol), resolution }
    return toList(
      await this.fixture.stores.bars.read({ series, from: feedSeconds(0), to: feedSeconds(start / 500) }),
    )
  }

  async times(): Promise<number[]> {
    return (await this.stored()).map(({ time }) => time)
  }

  /** Times of all bars that were pushed, in order. */
  pushed(): number[] {
    return this.fixture.events.flatMap(({ event }) =>
      event.type === 'bars' ? event.bars.map(({ bar }) => bar.time) : [],
    )
  }

  told(type: BusEvent['type']): BusEvent[] {
    return this.fixture.events.flatMap(({ event }) => (event.type === type ? [event] : []))
  }

  #watched(stores: Stores): Stores {
    const { bars, windows, bus, leases } = stores
    return {
      ...stores,
      bars: {
        ...bars,
        write: async (batch, lane) => {
          if (lane === 'backfill') await this.backfillGate
          if (lane === 'live') await this.liveWrite(() => bars.write(batch, lane))
          else await bars.write(batch, lane)
          this.order.push('committed')
        },
      },
      windows: {
        ...windows,
        add: (held) => this.windowsWrite(() => windows.add(held), held.length),
      },
      bus: {
        ...bus,
        publish: (event, epoch) => {
          this.order.push(event.type)
          return bus.publish(event, epoch)
        },
      },
      leases: {
        ...leases,
        acquire: async (name, holder) => {
          this.order.push('acquire')
          await this.leaseGate
          return leases.acquire(name, holder)
        },
        renew: async (name, holder) => !this.leasesAreLost && leases.renew(name, holder),
      },
    }
  }
}
