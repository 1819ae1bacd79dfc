import { type Bars, barCount } from '../../core/bars/bar.ts'
import type { Log } from '../../platform/log/log.ts'
import { type AddressedBars, type Routed, route } from '../series/addressed-bars.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import type { BackfillSender } from './backfill-sender.ts'
import type { LiveSender } from './live-sender.ts'
import type { SessionClient } from './session-client.ts'

/** Bars corrected as it happens and not yet stored; beyond, the session is given up and all is read again. */
const correctionsMax = 200_000

export interface LaneRouterDeps {
  readonly live: LiveSender
  readonly backfill: BackfillSender
  readonly talk: SessionClient
  readonly log: Log
  readonly outgoing: (series: CollectedSeries, bars: Bars, derived: boolean) => AddressedBars
  /** A correction that failed. */
  readonly failed: (cause: unknown) => void
}

/** Which of a series' closed bars go out live, and which with the history: corrections are never pushed. */
export class LaneRouter {
  readonly #deps: LaneRouterDeps
  /** Corrections that go out as they happen, on their way to the store. */
  readonly #underWay = new Set<Promise<void>>()
  #count = 0

  constructor(deps: LaneRouterDeps) {
    this.#deps = deps
  }

  route(series: CollectedSeries, bars: Bars, derived: boolean): Routed {
    return route(series, bars, (part) => this.#deps.outgoing(series, part, derived))
  }

  /** Sends what has just happened, whatever is under way. */
  sendNow(routed: readonly Routed[]): void {
    const fresh = routed.flatMap((each) => each.fresh)
    if (fresh.length > 0) this.#deps.live.send(fresh)
    for (const { corrections } of routed) this.#correct(corrections)
  }

  /** Sends what was read, in turn; answers what will be known when the corrections among it are stored. */
  async sendInTurn({ corrections, fresh }: Routed): Promise<Promise<void>[]> {
    const stored = await this.#deps.backfill.send(corrections)
    for (const each of fresh) await this.#deps.live.sendInTurn(each)
    return stored
  }

  /** Resolves when everything live, and what was corrected meanwhile, is stored. */
  async settled(): Promise<void> {
    await Promise.all([this.#deps.live.settled(), ...this.#underWay])
  }

  #correct(list: readonly AddressedBars[]): void {
    if (list.length === 0) return
    const { backfill, log, talk, failed } = this.#deps
    const count = list.reduce((sum, { bars }) => sum + barCount(bars), 0)
    this.#count += count
    const tracked = backfill.store(list).finally(() => {
      this.#count -= count
      this.#underWay.delete(tracked)
    })
    tracked.catch(failed)
    this.#underWay.add(tracked)
    if (this.#count <= correctionsMax) return
    log.error({ bars: this.#count }, 'ingest does not store corrections: beginning anew')
    talk.cancel()
  }
}
