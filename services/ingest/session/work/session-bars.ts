import { isDeepStrictEqual } from 'node:util'
import type { RefusalReason } from '../../../core/bars/bar-rules.ts'
import type { Lane } from '../../../core/bars/series.ts'
import { feedSeconds, toSeconds } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import { markStage } from '../../../platform/stages.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ReceivedBars } from '../../../wire/decode-bars.ts'
import {
  type CheckedBatch,
  checkBatch,
  type GoodSeries,
  type Refusal,
  refuseWhole,
} from '../../check/check-batch.ts'
import type { BackfillIntake } from '../../feed/backfill-intake.ts'
import type { FeedState } from '../../feed/feed-state.ts'
import type { ImportedSymbols } from '../../feed/imported-symbols.ts'
import type { Turn } from '../../feed/old-partitions.ts'
import { addCounts, type Counts, noCounts } from '../../feed/store-history.ts'
import type { IngestMetrics, LaneName } from '../../metrics.ts'
import { SessionEnd } from '../../session-end.ts'
import type { Acknowledgements } from './acknowledgements.ts'
import { type Barrier, historyPrecedes, type InFlight, livePrecedes } from './in-flight.ts'

export interface SessionBarsDeps {
  readonly clock: Clock
  readonly metrics: IngestMetrics
  readonly state: FeedState
  /** `undefined` in a live session. */
  readonly imported: ImportedSymbols | undefined
  /** The collector can send its live bars again after a crash. */
  readonly rereadable: boolean
  readonly backfill: BackfillIntake
  readonly inFlight: InFlight
  readonly acknowledgements: Acknowledgements
  /** Whether old bars wait for their turn; see `OldPartitions`. */
  readonly isPartitioned: boolean
}

interface Work {
  readonly refused: readonly Refusal[]
  readonly stored: Promise<Counts>
  readonly barriers: readonly Barrier[]
}

/** Refusals that a changed manifest can cause: digits, quote basis, delay, symbols, resolutions. */
const dueToManifest: ReadonlySet<RefusalReason> = new Set(['SCALE', 'NOT_CLOSED', 'UNKNOWN_SERIES'])

/** Checks the batches of one session, stores them in their lane and acknowledges them. */
export class SessionBars {
  readonly #deps: SessionBarsDeps
  /** The definition that the collector knows. */
  readonly #definition: FeedDefinition
  readonly #left = new AbortController()

  constructor(deps: SessionBarsDeps) {
    this.#deps = deps
    this.#definition = deps.state.registry.current().definition
  }

  /** Bars that still wait for their turn are not stored: without an Ack their collector sends them again. */
  stopWaiting(): void {
    this.#left.abort()
  }

  /** Resolves when the next message may follow. */
  take(message: ReceivedBars, digest: string): Promise<void> | void {
    const { clock, imported, acknowledgements } = this.#deps
    if (!acknowledgements.isNew(message.sequence, digest)) return
    const receivedMs = clock.monotonicMs()
    markStage('received')
    if (message.lane === 'live' && !imported) {
      const { good, refused } = this.#check(message)
      markStage('checked')
      const take = (): void => this.#takeLive(message, { good, refused }, receivedMs)
      const turn = this.#turn(good, 'live')
      return turn ? turn.then(take) : take()
    }
    if (message.lane === 'backfill') this.#takeBackfill(message, receivedMs)
    else {
      const wanted = imported ? 'LANE_BACKFILL, the lane of imports' : 'LANE_LIVE or LANE_BACKFILL'
      const got = message.lane === 'live' ? 'LANE_LIVE' : 'none that is known'
      const count = message.series.reduce((sum, series) => sum + series.count, 0)
      const refusal = refuseWhole('MALFORMED', `lane: got ${got}, wanted ${wanted}`, count)
      const stored = Promise.resolve(noCounts)
      this.#finish('backfill', message.sequence, { refused: [refusal], stored, barriers: [] }, receivedMs)
    }
  }

  #takeLive(message: ReceivedBars, { good, refused }: CheckedBatch, receivedMs: number): void {
    const { state, rereadable } = this.#deps
    const taken = state.live.take(good, { receivedMs, publishFirst: rereadable })
    const committed = Promise.all(taken.map((of) => of.committed))
    const stored = committed.then((all) => all.reduce(addCounts, noCounts))
    const barriers = taken.map((of) => ({ precedes: livePrecedes(of.resolution), passed: of.done }))
    this.#finish('live', message.sequence, { refused, stored, barriers }, receivedMs)
  }

  #takeBackfill(message: ReceivedBars, receivedMs: number): void {
    const { imported, backfill, inFlight } = this.#deps
    const { good, refused } = this.#check(message)
    const taken = backfill.take(good, this.#turn(good, 'backfill'))
    const stored = imported ? taken.then((counts) => imported.stored(good).then(() => counts)) : taken
    const barriers = [{ precedes: historyPrecedes(message.series), passed: stored }]
    const lane = imported ? 'import' : 'backfill'
    this.#finish(lane, message.sequence, { refused, stored, barriers }, receivedMs)
    inFlight.askToPause()
  }

  /** Resolves when bars that open old partitions may be stored; `undefined`: at once. */
  #turn(good: readonly GoodSeries[], lane: Lane): Promise<void> | undefined {
    const { clock, state, isPartitioned } = this.#deps
    if (!isPartitioned) return undefined
    const now = state.now(state.registry.current(), clock) ?? feedSeconds(toSeconds(clock.utcMs()))
    const turn = state.oldPartitions.open(good, lane, now)
    return turn.waitMs > 0 ? this.#wait(turn) : undefined
  }

  async #wait({ waitMs, giveUp }: Turn): Promise<void> {
    const { signal } = this.#left
    await this.#deps.clock.sleep(waitMs, signal)
    if (!signal.aborted) return
    giveUp()
    throw new SessionEnd('UNAVAILABLE', 'the session ended before its old bars were stored')
  }

  #check({ series }: ReceivedBars): CheckedBatch {
    const { clock, state, imported, inFlight } = this.#deps
    const feed = state.registry.current()
    const checked = checkBatch(series, {
      view: imported?.over(feed.view) ?? feed.view,
      definition: feed.definition,
      utcNow: clock.utcMs(),
      feedNow: state.now(feed, clock),
      latest: state.latest(feed, clock),
      newestOf: (id) => state.newest.get(id),
    })
    const isSuspect = !imported && checked.refused.some(({ reason }) => dueToManifest.has(reason))
    if (isSuspect && !isDeepStrictEqual(feed.definition, this.#definition))
      throw new SessionEnd('UNAVAILABLE', `the manifest of ${state.key} was changed; connect again`)
    inFlight.scattered.refused(checked.scattered ?? [])
    inFlight.scattered.taken(checked.good)
    return checked
  }

  /** Answers a batch once it is stored: the refusals, then the Ack. */
  #finish(lane: LaneName, sequence: number, { refused, stored, barriers }: Work, receivedMs: number): void {
    const { metrics, clock, acknowledgements, inFlight } = this.#deps
    const answered = stored.then((counts) => {
      metrics.committed(lane, (clock.monotonicMs() - receivedMs) / 1000)
      metrics.bars(lane, 'accepted', counts.accepted)
      metrics.bars(lane, 'revised', counts.revised)
      metrics.bars(lane, 'unchanged', counts.unchanged)
      acknowledgements.answer(sequence, refused, counts)
    })
    inFlight.track(lane, { answered, barriers, refusals: refused.length })
  }
}
