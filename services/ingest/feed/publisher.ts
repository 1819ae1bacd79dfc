import { seriesId } from '../../core/bars/series.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import { Serial } from '../../platform/serial.ts'
import { reached } from '../../platform/stages.ts'
import type { Bus, BusEvent, LiveBar } from '../../ports/bus.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import { batchBarsMax } from '../../wire/limits.ts'
import type { IngestMetrics } from '../metrics.ts'
import { SessionEnd } from '../session-end.ts'
import { Backlog } from './backlog.ts'
import type { Changed } from './store-history.ts'

/** Interval of retries while the bus is unavailable. */
export const busRetryMs = 500
/** Maximum kept revisions that are published at the same time. */
const revisedAtOnce = 1_000
/** Reasons for the end of a session. */
const overtaken = 'another ingest took over this feed'
const overran = 'the bus was unavailable, and the events that waited for it were dropped; connect again'

export interface PublisherDeps {
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly metrics: IngestMetrics
}

/** Events that are published in order. `revised` needs no order: revisions decide which value is newer. */
type OrderedEvent = Exclude<BusEvent, { type: 'revised' | 'registry' }>

/** An event of bars that waits for the event before it; further bars join it meanwhile. */
interface OpenBatch {
  readonly epoch: number
  readonly bars: LiveBar[]
  readonly published: Promise<number | undefined>
}

/**
 * Publishes the events of one feed on the bus, one after another, over all sessions of this process. While the bus
 * is unavailable, calls do not wait: bars are kept in a backlog and are published in order afterwards. When the
 * backlog is full, it is dropped. The session ends once the bus is available. The greater epoch of the next
 * session makes readers read the store.
 */
export class Publisher {
  readonly #deps: PublisherDeps
  readonly #feed: FeedKey
  readonly #backlog: Backlog
  readonly #revised = new Map<string, Changed>()
  #state: 'available' | 'unavailable' | 'overrun' = 'available'
  readonly #turns = new Serial()
  #open: OpenBatch | undefined
  /** The greatest epoch that published here. */
  #epoch = 0
  readonly #outage: OutageLog
  #cancelRetry: Cancel = () => undefined
  #isClosed = false
  /** Publishers up to this epoch may no longer publish. */
  #ended: { readonly epoch: number; readonly why: string } | undefined

  constructor(feed: FeedKey, deps: PublisherDeps) {
    this.#feed = feed
    this.#deps = deps
    this.#backlog = new Backlog(deps.clock, deps.metrics)
    this.#outage = new OutageLog({ ...deps, about: { feed } })
  }

  /**
   * Resolves with the event's position, or with `undefined` while the bus is unavailable. Batches that wait share
   * one event. All but the last of them get the position before it: once they are committed, the store has
   * everything up to there. Rejects with `SessionEnd` once a newer publisher was seen.
   */
  publish(event: OrderedEvent, epoch: number): Promise<number | undefined> {
    if (event.type === 'bars') return this.#publishBars(event.bars, epoch)
    this.#open = undefined
    return this.#turns.run(() => this.#publish(event, epoch))
  }

  /** Announces changed ranges. While the bus is unavailable it keeps them, and publishes them later. */
  async publishRevised(changed: readonly Changed[]): Promise<void> {
    await Promise.all(
      changed.map(async (range) => {
        if (this.#state === 'available' && (await this.#publishRange(range))) return
        const id = seriesId(range.series)
        this.#revised.set(id, joined(this.#revised.get(id), range))
      }),
    )
  }

  close(): void {
    this.#isClosed = true
    this.#cancelRetry()
  }

  /** Drops all waiting events of a hidden feed. */
  discard(): void {
    this.#backlog.clear()
    this.#revised.clear()
  }

  /** Bars that wait share an event: with a round trip per batch, the last batch of a minute would be late. */
  #publishBars(bars: readonly LiveBar[], epoch: number): Promise<number | undefined> {
    const open = this.#open
    const fits = open?.epoch === epoch && open.bars.length + bars.length <= batchBarsMax
    const batch = fits ? open : this.#startBatch(epoch)
    for (const bar of bars) batch.bars.push(bar)
    const count = batch.bars.length
    return batch.published.then((position) =>
      position === undefined || batch.bars.length === count ? position : position - 1,
    )
  }

  #startBatch(epoch: number): OpenBatch {
    const bars: LiveBar[] = []
    // Events are published one after another: two at once would change order if the first were lost and retried.
    const published = this.#turns.run(() => {
      if (this.#open === batch) this.#open = undefined
      return this.#publish({ type: 'bars', feed: this.#feed, bars }, epoch)
    })
    const batch: OpenBatch = { epoch, bars, published }
    this.#open = batch
    return batch
  }

  async #publish(event: OrderedEvent, epoch: number): Promise<number | undefined> {
    if (this.#ended && epoch <= this.#ended.epoch) throw new SessionEnd('ABORTED', this.#ended.why)
    // A later session does not miss the dropped events: its readers read the store.
    if (this.#state === 'overrun' && epoch > this.#epoch) this.#leaveOverrun()
    this.#epoch = Math.max(this.#epoch, epoch)
    if (this.#state === 'unavailable') {
      this.#keep(event, epoch)
      return undefined
    }
    // After an overrun only `settled` is tried: no reader misses an event before it.
    if (this.#state === 'overrun' && event.type !== 'settled') return undefined
    try {
      if (event.type === 'bars') reached('publishing')
      const published = await this.#deps.bus.publish(event, epoch)
      if (event.type === 'bars') reached('published')
      this.#noteAvailable()
      if (published.outcome === 'fenced') throw this.#end(epoch, overtaken)
      if (this.#state === 'overrun') {
        this.#leaveOverrun()
        throw this.#end(epoch, overran)
      }
      return published.position
    } catch (cause) {
      if (cause instanceof SessionEnd) throw cause
      this.#noteOutage(cause)
      this.#keep(event, epoch)
      return undefined
    }
  }

  #end(epoch: number, why: string): SessionEnd {
    if (!this.#ended || epoch > this.#ended.epoch) this.#ended = { epoch, why }
    return new SessionEnd('ABORTED', why)
  }

  #keep(event: OrderedEvent, epoch: number): void {
    if (this.#state === 'unavailable' && !this.#backlog.keep(event, epoch)) this.#overrun()
  }

  #noteOutage(cause: unknown): void {
    if (this.#state !== 'available') return
    this.#state = 'unavailable'
    this.#scheduleRetry()
    if (!this.#outage.isOut) this.#deps.metrics.alarm('publish')
    this.#outage.failed({
      text: 'bus unavailable; live bars wait for it; retrying',
      level: 'error',
      cause,
    })
  }

  #noteAvailable(): void {
    this.#outage.worked('bus available again')
  }

  #overrun(): void {
    this.#state = 'overrun'
    this.#backlog.drop()
    this.#deps.log.error(
      { feed: this.#feed },
      'bus backlog full: waiting live bars dropped; readers will read the store',
    )
  }

  /** Kept revisions are still published. */
  #leaveOverrun(): void {
    this.#state = 'available'
    this.#scheduleRetry()
  }

  #scheduleRetry(): void {
    if (!this.#isClosed) this.#cancelRetry = this.#deps.clock.after(busRetryMs, () => void this.#retry())
  }

  async #retry(): Promise<void> {
    if (this.#state === 'unavailable' && this.#backlog.isTooOld) this.#overrun()
    // More events may arrive during the last publication.
    do {
      if (!(await this.#publishBacklog())) return this.#scheduleRetry()
    } while (this.#state === 'unavailable' && this.#backlog.first)
    // Bars get positions again before the kept revisions are published: revisions may arrive without end.
    if (this.#state === 'unavailable') this.#state = 'available'
    const arePublished = await this.#publishKeptRevised()
    // Any other outage has its own retry.
    if (this.#state !== 'overrun') return
    if (!arePublished || !(await this.#probe())) this.#scheduleRetry()
  }

  /** After an overrun: publishes an event without meaning. A session that is never idle sends no `settled`. */
  async #probe(): Promise<boolean> {
    const epoch = this.#epoch
    const nothing = { type: 'applied' as const, feed: this.#feed, position: 0 }
    const published = await this.#deps.bus.publish(nothing, epoch).catch(() => undefined)
    if (!published) return false
    // A later session left the overrun meanwhile.
    if (this.#state !== 'overrun') return true
    this.#noteAvailable()
    this.#end(epoch, published.outcome === 'fenced' ? overtaken : overran)
    this.#leaveOverrun()
    return true
  }

  /** False while the bus is still unavailable. */
  async #publishBacklog(): Promise<boolean> {
    for (let next = this.#backlog.first; next && this.#state === 'unavailable'; next = this.#backlog.first) {
      const published = await this.#deps.bus.publish(next.event, next.epoch).catch(() => undefined)
      if (!published) return false
      if (published.outcome === 'published') {
        this.#backlog.remove(next)
        this.#countPushed(next.event, next.sinceMs)
      } else {
        this.#end(next.epoch, overtaken)
        this.#backlog.removeUpTo(next.epoch)
      }
    }
    return true
  }

  #countPushed(event: BusEvent, sinceMs: number): void {
    const { clock, metrics } = this.#deps
    if (event.type === 'bars') metrics.pushed(event.bars.length, (clock.monotonicMs() - sinceMs) / 1_000)
  }

  /** Publishes the revisions kept until now; false after a failure. */
  async #publishKeptRevised(): Promise<boolean> {
    const all = [...this.#revised]
    for (let i = 0; i < all.length; i += revisedAtOnce) {
      const kept = all.slice(i, i + revisedAtOnce)
      const published = await Promise.all(kept.map(([, range]) => this.#publishRange(range)))
      kept.forEach(([id, range], each) => {
        // A later change may have been joined to the range meanwhile.
        if (published[each] && this.#revised.get(id) === range) this.#revised.delete(id)
      })
      if (published.includes(false)) return false
    }
    return true
  }

  async #publishRange(range: Changed): Promise<boolean> {
    try {
      await this.#deps.bus.publish({ type: 'revised', ...range }, 0)
      return true
    } catch (cause) {
      this.#noteOutage(cause)
      return false
    }
  }
}

function joined(a: Changed | undefined, b: Changed): Changed {
  const least = (x: FeedSeconds, y: FeedSeconds): FeedSeconds => feedSeconds(Math.min(x, y))
  const most = (x: FeedSeconds, y: FeedSeconds): FeedSeconds => feedSeconds(Math.max(x, y))
  return a ? { series: b.series, from: least(a.from, b.from), to: most(a.to, b.to) } : b
}
