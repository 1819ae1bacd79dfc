import { type Bars, barCount, noBars, timeAt } from '../../core/bars/bar.ts'
import { mergeBars } from '../../core/bars/revision.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { PreparedBars, Routed } from '../series/bar-router.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import { derivedRevision } from '../series/revisions.ts'
import { BackfillSender } from './backfill-sender.ts'
import { LiveSender } from './live-sender.ts'
import { Outbox } from './outbox.ts'
import { Refusals } from './refusals.ts'
import type { Answer } from './session-client.ts'
import type { SessionDeps } from './session-deps.ts'
import { WorkInFlight } from './work-in-flight.ts'

/** Once ingest has refused so many bars of a series as not closed, they are sent again. */
const unclosedMax = 100

export interface LaneRouterDeps extends SessionDeps {
  readonly failed: (cause: unknown) => void
}

/**
 * The two lanes of one session: sends new bars on the live lane, and corrections and history on the backfill
 * lane. Corrections are never pushed to clients.
 */
export class LaneRouter {
  readonly #deps: LaneRouterDeps
  readonly #live: LiveSender
  readonly #backfill: BackfillSender
  /** Corrections that were sent when they happened and are not yet stored. */
  readonly #corrections: WorkInFlight

  constructor(deps: LaneRouterDeps) {
    this.#deps = deps
    const shared = { ...deps, outbox: new Outbox(deps), refusals: new Refusals(deps) }
    const overflow = (bars: number): void => {
      deps.log.error({ bars }, 'bars not acknowledged by ingest; retrying in a new session')
      deps.client.cancel()
    }
    const live = new LiveSender({
      ...shared,
      inFlight: new WorkInFlight(overflow),
      onForming: (series, bar) => this.#keepForming(series, bar),
    })
    this.#live = live
    this.#backfill = new BackfillSender({ ...shared, idle: (resolution) => live.idle(resolution) })
    this.#corrections = new WorkInFlight(overflow)
  }

  /** Sends bars that have just closed, however many bars are in flight. */
  sendNow(routed: readonly Routed[]): void {
    const fresh = routed.flatMap((each) => each.fresh)
    if (fresh.length > 0) this.#live.send(fresh)
    for (const { corrections } of routed) this.#correct(corrections)
  }

  /** Sends bars that were read, when there is capacity. The promises resolve when the corrections are stored. */
  async sendThrottled({ corrections, fresh }: Routed): Promise<Promise<void>[]> {
    const stored = await this.#backfill.send(corrections)
    for (const each of fresh) await this.#live.sendThrottled(each)
    return stored
  }

  /** Sends old bars on the backfill lane. Resolves once all were sent; the inner promises resolve when they are stored. */
  async sendHistory(
    series: CollectedSeries,
    bars: Bars,
    derived: boolean,
    answered?: (answer: Answer) => void,
  ): Promise<Promise<void>[]> {
    const stored = await this.#backfill.send([this.#deps.router.prepare(series, bars, derived)], answered)
    if (barCount(series.unclosed) >= unclosedMax) await this.resendUnclosed([series])
    return stored
  }

  /**
   * Sends the history again that ingest refused as not closed. The bars keep their revisions. Resolves when ingest has
   * answered: a bar that it refused once more waits in the series.
   */
  async resendUnclosed(all: readonly CollectedSeries[]): Promise<void> {
    const list = all.map((series) => {
      const { name: symbol, resolution, scale, unclosed: bars } = series
      series.unclosed = noBars
      return { series, symbol, resolution, scale, bars }
    })
    const left = list.filter(({ bars }) => barCount(bars) > 0)
    await Promise.all(await this.#backfill.send(left))
  }

  idle(resolution: Resolution): Promise<void> {
    return this.#live.idle(resolution)
  }

  /** Resolves when all live bars and corrections of the resolution sent so far are stored. */
  async settled(resolution: Resolution): Promise<void> {
    await Promise.all([this.#live.settled(resolution), this.#corrections.settled(resolution)])
  }

  #correct(list: readonly PreparedBars[]): void {
    const [first] = list
    if (!first) return
    const count = list.reduce((sum, { bars }) => sum + barCount(bars), 0)
    const stored = this.#backfill.store(list)
    stored.catch(this.#deps.failed)
    // They are corrections of one series.
    this.#corrections.add(first.resolution, count, stored)
  }

  /** Ingest rejected the bar as not closed by its clock: the bar is sent again later. */
  #keepForming(series: CollectedSeries, bar: Bars): void {
    const time = timeAt(bar, 0)
    if (series.isGone) return
    if (series.sentUntil > time) {
      // A later bar was sent before this answer arrived. This one is sent again as history, with a window of its own.
      series.unclosed = mergeBars(series.unclosed, bar)
      return
    }
    series.sentUntil = time - 1
    const later = series.forming
    series.forming = undefined
    const derived = bar.revision[0] === derivedRevision
    // A later bar that arrived meanwhile closes this one. Sent alone, this one would be rejected again.
    if (later) this.sendNow([this.#deps.router.route(series, mergeBars(later.bars, bar), derived)])
    else series.forming = { bars: bar, derived }
  }
}
