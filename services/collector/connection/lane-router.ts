import { type Bars, barCount, timeAt } from '../../core/bars/bar.ts'
import { mergeBars } from '../../core/bars/revision.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import { barPreparer, type PreparedBars, type Routed, route } from '../series/prepared-bars.ts'
import { derivedRevision, type Stamps } from '../series/stamps.ts'
import { BackfillSender } from './backfill-sender.ts'
import { LiveSender } from './live-sender.ts'
import { Outbox, type OutboxDeps } from './outbox.ts'
import type { SessionClient } from './session-client.ts'

/** Bars corrected as it happens and not yet stored; beyond, the session is given up and all is read again. */
const correctionsMax = 200_000

export interface LaneRouterDeps extends OutboxDeps {
  readonly stamps: Stamps
  readonly clock: Clock
  /** A correction that failed. */
  readonly failed: (cause: unknown) => void
}

/**
 * The two lanes of one session: decides which of a series' closed bars go out live, and which with the
 * history. Corrections are never pushed.
 */
export class LaneRouter {
  readonly #client: SessionClient
  readonly #log: Log
  readonly #failed: (cause: unknown) => void
  readonly #outbox: Outbox
  readonly #live: LiveSender
  readonly #backfill: BackfillSender
  readonly #prepare: ReturnType<typeof barPreparer>
  /** Corrections that go out as they happen, on their way to the store. */
  readonly #inFlight = new Set<Promise<void>>()
  #inFlightBars = 0

  constructor(deps: LaneRouterDeps) {
    this.#client = deps.client
    this.#log = deps.log
    this.#failed = deps.failed
    const outbox = new Outbox(deps)
    const live = new LiveSender({
      ...deps,
      outbox,
      onForming: (series, bar) => this.#keepForming(series, bar),
    })
    this.#outbox = outbox
    this.#live = live
    this.#backfill = new BackfillSender({ ...deps, outbox, idle: () => live.idle() })
    this.#prepare = barPreparer(deps)
  }

  /** Ingest knows the symbols: what earlier sessions left in the spool goes out, before anything else. */
  begin(): void {
    this.#outbox.begin()
  }

  route(series: CollectedSeries, bars: Bars, derived: boolean): Routed {
    return route(series, bars, (part) => this.#prepare(series, part, derived))
  }

  /** Sends what has just happened, whatever is under way. */
  sendNow(routed: readonly Routed[]): void {
    const fresh = routed.flatMap((each) => each.fresh)
    if (fresh.length > 0) this.#live.send(fresh)
    for (const { corrections } of routed) this.#correct(corrections)
  }

  /** Sends what was read, in turn; answers what will be known when the corrections among it are stored. */
  async sendThrottled({ corrections, fresh }: Routed): Promise<Promise<void>[]> {
    const stored = await this.#backfill.send(corrections)
    for (const each of fresh) await this.#live.sendThrottled(each)
    return stored
  }

  /** Sends old bars on the backfill lane; resolves once all were sent, with what will be known when they are stored. */
  sendHistory(series: CollectedSeries, bars: Bars, derived: boolean): Promise<Promise<void>[]> {
    return this.#backfill.send([this.#prepare(series, bars, derived)])
  }

  /** Resolves when history may be sent: nothing live is under way. */
  idle(): Promise<void> {
    return this.#live.idle()
  }

  /** Resolves when everything live, and what was corrected meanwhile, is stored. */
  async settled(): Promise<void> {
    await Promise.all([this.#live.settled(), ...this.#inFlight])
  }

  #correct(list: readonly PreparedBars[]): void {
    if (list.length === 0) return
    const count = list.reduce((sum, { bars }) => sum + barCount(bars), 0)
    this.#inFlightBars += count
    const tracked = this.#backfill.store(list).finally(() => {
      this.#inFlightBars -= count
      this.#inFlight.delete(tracked)
    })
    tracked.catch(this.#failed)
    this.#inFlight.add(tracked)
    if (this.#inFlightBars <= correctionsMax) return
    this.#log.error({ bars: this.#inFlightBars }, 'ingest does not store corrections: beginning anew')
    this.#client.cancel()
  }

  /** By ingest's clock it has not closed: it goes out again a little later. */
  #keepForming(series: CollectedSeries, bar: Bars): void {
    const time = timeAt(bar, 0)
    if (series.isGone || series.sentUntil !== time) return
    series.sentUntil = time - 1
    const later = series.forming
    series.forming = undefined
    const derived = bar.revision[0] === derivedRevision
    // One that came meanwhile closes it; alone it would be refused for ever.
    if (later) this.sendNow([this.route(series, mergeBars(later.bars, bar), derived)])
    else series.forming = { bars: bar, derived }
  }
}
