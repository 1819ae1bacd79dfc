import { seriesId } from '../../core/bars/series.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import { markStage } from '../../platform/stages.ts'
import type { Bus } from '../../ports/bus.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import type { IngestMetrics } from '../metrics.ts'
import { SessionEnd } from '../session-end.ts'
import { EventQueue, type OrderedEvent, type QueuedEvent } from './event-queue.ts'
import type { Changed } from './store-history.ts'

export const busRetryMs = 500
const revisedAtOnce = 1_000

export interface PublisherDeps {
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly metrics: IngestMetrics
}

/**
 * Publishes the events of one feed on the bus, one after another, over all sessions of this process: two at once would
 * change order if the first were lost and retried. After a failure calls do not wait: events wait in a queue and are
 * tried again in order. When the queue is full, it is dropped, and the next publication tells readers of the loss.
 */
export class Publisher {
  readonly #feed: FeedKey
  readonly #deps: PublisherDeps
  readonly #queue: EventQueue
  readonly #revised = new Map<string, Changed>()
  /** The last publication failed. */
  #isUnavailable = false
  #sending: Promise<boolean> | undefined
  /** Whether readers do not know yet that events were dropped. */
  #hasDropped = false
  /** Publishers up to this epoch may no longer publish. */
  #overtaken = Number.NEGATIVE_INFINITY
  readonly #outage: OutageLog
  #cancelRetry: Cancel = () => undefined
  #isClosed = false

  constructor(feed: FeedKey, deps: PublisherDeps) {
    this.#feed = feed
    this.#deps = deps
    this.#queue = new EventQueue(deps)
    this.#outage = new OutageLog({ ...deps, about: { feed } })
  }

  /**
   * Resolves with the event's position, or with `undefined` while the bus is unavailable. Batches that wait share
   * one event. All but the last of them get the position before it: once they are committed, the store has
   * everything up to there. Rejects with `SessionEnd` once a newer publisher was seen.
   */
  async publish(event: OrderedEvent, epoch: number): Promise<number | undefined> {
    if (epoch <= this.#overtaken) throw endOfOvertaken()
    const isLate = this.#isUnavailable
    if (isLate && event.type === 'applied') return undefined
    const published = this.#queue.add(event, epoch, isLate)
    if (isLate) this.#dropBeyondBound()
    else void this.#sendAll()
    return published
  }

  /** Announces changed ranges. While the bus is unavailable it keeps them, and publishes them later. */
  async publishRevised(changed: readonly Changed[]): Promise<void> {
    await Promise.all(
      changed.map(async (range) => {
        if (!this.#isUnavailable && (await this.#publishRange(range))) return
        const id = seriesId(range.series)
        this.#revised.set(id, joined(this.#revised.get(id), range))
      }),
    )
  }

  close(): void {
    this.#isClosed = true
    this.#cancelRetry()
  }

  discard(): void {
    this.#queue.release()
    this.#queue.remove(() => true)
    this.#revised.clear()
  }

  /** Publishes what waits. Resolves with whether the bus took all of it. */
  #sendAll(): Promise<boolean> {
    this.#sending ??= this.#sendQueue()
    return this.#sending
  }

  async #sendQueue(): Promise<boolean> {
    // Batches of the same turn share an event.
    await Promise.resolve()
    let isUp = true
    while (isUp && this.#queue.first) isUp = await this.#send(this.#queue.first)
    this.#sending = undefined
    return isUp
  }

  /** False after a failure. */
  async #send(queued: QueuedEvent): Promise<boolean> {
    const { event, epoch } = queued
    const afterLoss = this.#hasDropped
    queued.isSent = true
    if (event.type === 'bars') markStage('publishing')
    const { bus } = this.#deps
    const published = await bus.publish(event, epoch, { afterLoss }).catch((cause) => this.#fail(cause))
    if (!published) return false
    if (event.type === 'bars') markStage('published')
    this.#isUnavailable = false
    this.#outage.worked('bus available again')
    if (published.outcome === 'fenced') {
      this.#overtake(epoch)
      return true
    }
    if (afterLoss) this.#hasDropped = false
    if (this.#queue.first === queued) this.#queue.removeFirst()
    queued.published.resolve(published.position)
    const seconds = (this.#deps.clock.monotonicMs() - queued.sinceMs) / 1_000
    if (queued.isLate && queued.bars.length > 0) this.#deps.metrics.pushed(queued.bars.length, seconds)
    return true
  }

  #overtake(epoch: number): void {
    this.#overtaken = Math.max(this.#overtaken, epoch)
    this.#queue.remove((each) => {
      if (each.epoch > epoch) return false
      each.published.reject(endOfOvertaken())
      return true
    })
  }

  #fail(cause: unknown): undefined {
    this.#isUnavailable = true
    this.#queue.release()
    if (!this.#outage.isOut) this.#deps.metrics.alarm('publish')
    this.#outage.failed({ text: 'bus unavailable; live bars wait for it; retrying', level: 'error', cause })
    this.#cancelRetry()
    if (!this.#isClosed) this.#cancelRetry = this.#deps.clock.after(busRetryMs, () => void this.#retry())
  }

  async #retry(): Promise<void> {
    if (this.#isUnavailable) this.#dropBeyondBound()
    if (!(await this.#sendAll())) return
    // Bars get positions again before the kept revisions are published: revisions may arrive without end.
    this.#isUnavailable = false
    await this.#publishKeptRevised()
  }

  #dropBeyondBound(): void {
    const { log, metrics } = this.#deps
    if (!this.#queue.isOverBound) return
    this.#hasDropped = true
    metrics.droppedFromBacklog(this.#queue.remove(() => true))
    log.error({ feed: this.#feed }, 'bus queue full: waiting live bars dropped; readers will read the store')
  }

  async #publishKeptRevised(): Promise<void> {
    const all = [...this.#revised]
    for (let i = 0; i < all.length; i += revisedAtOnce) {
      const kept = all.slice(i, i + revisedAtOnce)
      const published = await Promise.all(kept.map(([, range]) => this.#publishRange(range)))
      kept.forEach(([id, range], each) => {
        // A later change may have been joined to the range meanwhile.
        if (published[each] && this.#revised.get(id) === range) this.#revised.delete(id)
      })
      if (published.includes(false)) return
    }
  }

  async #publishRange(range: Changed): Promise<boolean> {
    try {
      await this.#deps.bus.publish({ type: 'revised', ...range }, 0)
      return true
    } catch (cause) {
      this.#fail(cause)
      return false
    }
  }
}

function joined(a: Changed | undefined, b: Changed): Changed {
  const least = (x: FeedSeconds, y: FeedSeconds): FeedSeconds => feedSeconds(Math.min(x, y))
  const most = (x: FeedSeconds, y: FeedSeconds): FeedSeconds => feedSeconds(Math.max(x, y))
  return a ? { series: b.series, from: least(a.from, b.from), to: most(a.to, b.to) } : b
}

const endOfOvertaken = (): SessionEnd => new SessionEnd('ABORTED', 'another ingest took over this feed')
