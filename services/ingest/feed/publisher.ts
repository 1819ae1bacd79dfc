import { seriesId } from '../../core/bars/series.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Bus, BusEvent, LiveBar } from '../../ports/bus.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import { batchBarsMax } from '../../wire/limits.ts'
import type { IngestMetrics } from '../metrics.ts'
import { SessionEnd } from '../session-end.ts'
import { Backlog } from './backlog.ts'
import type { Changed } from './store-history.ts'

/** A bus that was away is tried again so often. */
export const busRetryMs = 500
/** Revisions that were kept meanwhile go out side by side. */
const revisedAtOnce = 1_000
/** Why a session ends. */
const overtaken = 'another ingest took over this feed'
const overran = 'more had to wait for the bus than is kept; connect again'

export interface PublisherDeps {
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly metrics: IngestMetrics
}

/** What is told of a feed in order: everything but `revised`, which its revisions order. */
type OrderedEvent = Exclude<BusEvent, { type: 'revised' | 'registry' }>

/** Bars that wait for the event before them: those that come meanwhile go with them. */
interface OpenTurn {
  readonly epoch: number
  readonly bars: LiveBar[]
  readonly told: Promise<number | undefined>
}

/**
 * Puts what happens to one feed on the bus, one event after another, over all sessions of this process. While
 * the bus is away nobody waits for it: bars are kept and follow in order when it is back. When more than
 * the backlog holds had to wait, none of it is published: the session ends once the bus is back, and
 * the next one's greater epoch tells readers to look into the store.
 */
export class Publisher {
  readonly #deps: PublisherDeps
  readonly #feed: FeedKey
  readonly #backlog: Backlog
  readonly #revised = new Map<string, Changed>()
  #state: 'up' | 'away' | 'overrun' = 'up'
  #last: Promise<unknown> = Promise.resolve()
  #open: OpenTurn | undefined
  /** The greatest that published here. */
  #epoch = 0
  #isToldAway = false
  #cancelRetry: Cancel = () => undefined
  #isClosed = false
  /** Publishers up to this epoch may publish no more. */
  #ended: { readonly epoch: number; readonly why: string } | undefined

  constructor(feed: FeedKey, deps: PublisherDeps) {
    this.#feed = feed
    this.#deps = deps
    this.#backlog = new Backlog(deps.clock, deps.metrics)
  }

  /**
   * Gives the event's position, or `undefined` when the bus is away. Bars that had to wait share one event with
   * those that came meanwhile, and all but the last of them are given the position before it: up to there
   * the store shows everything once they are committed. Rejects with `SessionEnd` once a newer publisher was seen.
   */
  tell(event: OrderedEvent, epoch: number): Promise<number | undefined> {
    if (event.type === 'bars') return this.#tellBars(event.bars, epoch)
    this.#open = undefined
    return this.#inTurn(() => this.#tell(event, epoch))
  }

  /** Resolves once readers know that these ranges changed, or when the bus is away; then they hear of it later. */
  async tellRevised(changed: readonly Changed[]): Promise<void> {
    await Promise.all(
      changed.map(async (range) => {
        if (this.#state === 'up' && (await this.#publishRevised(range))) return
        const id = seriesId(range.series)
        this.#revised.set(id, joined(this.#revised.get(id), range))
      }),
    )
  }

  close(): void {
    this.#isClosed = true
    this.#cancelRetry()
  }

  /** Drops what waits: of a feed that is purged. */
  discard(): void {
    this.#backlog.clear()
    this.#revised.clear()
  }

  /** A minute may come in many batches: with a round trip for each the last would be late. */
  #tellBars(bars: readonly LiveBar[], epoch: number): Promise<number | undefined> {
    const open = this.#open
    const isRoom = open?.epoch === epoch && open.bars.length + bars.length <= batchBarsMax
    const turn = isRoom ? open : this.#openTurn(epoch)
    for (const bar of bars) turn.bars.push(bar)
    const count = turn.bars.length
    return turn.told.then((position) =>
      position === undefined || turn.bars.length === count ? position : position - 1,
    )
  }

  #openTurn(epoch: number): OpenTurn {
    const bars: LiveBar[] = []
    const told = this.#inTurn(() => {
      if (this.#open === turn) this.#open = undefined
      return this.#tell({ type: 'bars', feed: this.#feed, bars }, epoch)
    })
    const turn: OpenTurn = { epoch, bars, told }
    this.#open = turn
    return turn
  }

  /** Two events at once could change places when the first is lost and the second is not. */
  #inTurn(act: () => Promise<number | undefined>): Promise<number | undefined> {
    const told = this.#last.then(act)
    this.#last = told.catch(() => undefined)
    return told
  }

  async #tell(event: OrderedEvent, epoch: number): Promise<number | undefined> {
    if (this.#ended && epoch <= this.#ended.epoch) throw new SessionEnd('ABORTED', this.#ended.why)
    // Of a later session: what was overrun is behind it.
    if (this.#state === 'overrun' && epoch > this.#epoch) this.#leaveOverrun()
    this.#epoch = Math.max(this.#epoch, epoch)
    if (this.#state === 'away') {
      this.#keep(event, epoch)
      return undefined
    }
    // After an overrun only this event is tried: it says nothing that those before it would be missed for.
    if (this.#state === 'overrun' && event.type !== 'settled') return undefined
    try {
      const told = await this.#deps.bus.publish(event, epoch)
      this.#noteBack()
      if (told.outcome === 'fenced') throw this.#end(epoch, overtaken)
      if (this.#state === 'overrun') {
        this.#leaveOverrun()
        throw this.#end(epoch, overran)
      }
      return told.position
    } catch (cause) {
      if (cause instanceof SessionEnd) throw cause
      this.#goAway(cause)
      this.#keep(event, epoch)
      return undefined
    }
  }

  #end(epoch: number, why: string): SessionEnd {
    if (!this.#ended || epoch > this.#ended.epoch) this.#ended = { epoch, why }
    return new SessionEnd('ABORTED', why)
  }

  #keep(event: OrderedEvent, epoch: number): void {
    if (this.#state === 'away' && !this.#backlog.keep(event, epoch)) this.#overrun()
  }

  #goAway(cause: unknown): void {
    if (this.#state !== 'up') return
    this.#state = 'away'
    this.#retryLater()
    if (this.#isToldAway) return
    this.#isToldAway = true
    this.#deps.metrics.alarm('publish')
    this.#deps.log.error({ err: cause, feed: this.#feed }, 'the bus is away; live bars wait for it')
  }

  #noteBack(): void {
    if (this.#isToldAway) this.#deps.log.info({ feed: this.#feed }, 'the bus is back')
    this.#isToldAway = false
  }

  #overrun(): void {
    this.#state = 'overrun'
    this.#backlog.drop()
    this.#deps.log.error(
      { feed: this.#feed },
      'more live bars wait for the bus than are kept; readers will look',
    )
  }

  /** What was kept of revisions meanwhile still goes out. */
  #leaveOverrun(): void {
    this.#state = 'up'
    this.#retryLater()
  }

  #retryLater(): void {
    if (!this.#isClosed) this.#cancelRetry = this.#deps.clock.after(busRetryMs, () => void this.#comeBack())
  }

  async #comeBack(): Promise<void> {
    if (this.#state === 'away' && this.#backlog.isTooOld) this.#overrun()
    // While the last of it goes out more may come.
    do {
      if (!(await this.#publishBacklog())) return this.#retryLater()
    } while (this.#state === 'away' && this.#backlog.first)
    // Bars have positions again; revisions are in no order with them, and there may be no end of them.
    if (this.#state === 'away') this.#state = 'up'
    const isTold = await this.#publishKeptRevised()
    // Otherwise it went away anew, and comes back by itself.
    if (this.#state !== 'overrun') return
    if (!isTold || !(await this.#probe())) this.#retryLater()
  }

  /** After an overrun: whether the bus takes what says nothing. A session that is never idle tells no `settled`. */
  async #probe(): Promise<boolean> {
    const epoch = this.#epoch
    const nothing = { type: 'applied' as const, feed: this.#feed, position: 0 }
    const told = await this.#deps.bus.publish(nothing, epoch).catch(() => undefined)
    if (!told) return false
    // A later session left the overrun meanwhile.
    if (this.#state !== 'overrun') return true
    this.#noteBack()
    this.#end(epoch, told.outcome === 'fenced' ? overtaken : overran)
    this.#leaveOverrun()
    return true
  }

  /** False when the bus is still away. */
  async #publishBacklog(): Promise<boolean> {
    for (let next = this.#backlog.first; next && this.#state === 'away'; next = this.#backlog.first) {
      const told = await this.#deps.bus.publish(next.event, next.epoch).catch(() => undefined)
      if (!told) return false
      if (told.outcome === 'published') {
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

  /** What was kept until now; what is kept meanwhile follows a failure. */
  async #publishKeptRevised(): Promise<boolean> {
    const all = [...this.#revised]
    for (let i = 0; i < all.length; i += revisedAtOnce) {
      const kept = all.slice(i, i + revisedAtOnce)
      const told = await Promise.all(kept.map(([, range]) => this.#publishRevised(range)))
      kept.forEach(([id, range], each) => {
        // More may have been joined to it meanwhile.
        if (told[each] && this.#revised.get(id) === range) this.#revised.delete(id)
      })
      if (told.includes(false)) return false
    }
    return true
  }

  async #publishRevised(range: Changed): Promise<boolean> {
    try {
      await this.#deps.bus.publish({ type: 'revised', ...range }, 0)
      return true
    } catch (cause) {
      this.#goAway(cause)
      return false
    }
  }
}

function joined(a: Changed | undefined, b: Changed): Changed {
  const least = (x: FeedSeconds, y: FeedSeconds): FeedSeconds => feedSeconds(Math.min(x, y))
  const most = (x: FeedSeconds, y: FeedSeconds): FeedSeconds => feedSeconds(Math.max(x, y))
  return a ? { series: b.series, from: least(a.from, b.from), to: most(a.to, b.to) } : b
}
