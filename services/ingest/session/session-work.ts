import type { RefusalReason } from '../../core/bars/bar-rules.ts'
import type { Lane } from '../../core/bars/series.ts'
import type { Window } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import type { RegistryView } from '../../core/feeds/registry.ts'
import type { Cancel } from '../../ports/clock.ts'
import type { ReceivedBars } from '../../wire/decode-bars.ts'
import type { Catalogue__Output } from '../../wire/gen/fxd/v1/Catalogue.ts'
import type { IngestMessage } from '../../wire/gen/fxd/v1/IngestMessage.ts'
import type { Window__Output } from '../../wire/gen/fxd/v1/Window.ts'
import { type CatalogueChange, decideCatalogue } from '../check/catalogue.ts'
import {
  type CheckedBatch,
  checkBatch,
  type GoodSeries,
  type Refusal,
  refuseWhole,
} from '../check/check-batch.ts'
import { checkWindow } from '../check/check-window.ts'
import type { FeedState } from '../feed/feed-state.ts'
import { ImportedSymbols } from '../feed/imported-symbols.ts'
import { BackfillIntake, LiveIntake } from '../feed/intake.ts'
import { Liveness } from '../feed/liveness.ts'
import { type Counts, noCounts } from '../feed/store-history.ts'
import type { LaneName } from '../metrics.ts'
import { SessionEnd } from '../session-end.ts'
import { ackOf, cataloguedParts, refusedParts, welcomeOf } from './answers.ts'
import { CatalogueParts } from './catalogue-parts.ts'
import { InFlight } from './in-flight.ts'
import { knownParts } from './known-parts.ts'
import { historyPrecedes, precedesAll, windowPrecedes } from './precedes.ts'
import type { Received } from './receive.ts'
import { Sequences } from './sequences.ts'
import type { SessionDeps } from './session.ts'

/** Received and not yet acknowledged. At the first the collector is asked to pause, at the second it is not read. */
export const backfillBatchesSlow = 12
const backfillBatchesMax = 16
const liveBatchesMax = 64
export const windowsMax = 256
const slowPauseMs = 500
/** Readers that lost events of the bus learn so often that the store shows everything: well before they give up. */
const settleMs = 2_000

export interface Role {
  readonly feed: FeedKey
  readonly isImport: boolean
  readonly rereadable: boolean
  readonly epoch: number | undefined
}

export interface SessionCallbacks {
  send(message: IngestMessage): void
  /** Ends the session. */
  fail(cause: unknown): void
  /** Called when there may be room again. */
  eased(): void
  /** Throws when the feed is gone. */
  view(): { readonly view: RegistryView; readonly definition: FeedDefinition }
}

/** What an active session does: takes the messages of one collector or import, and answers them. */
export class SessionWork {
  readonly #role: Role
  readonly #deps: SessionDeps
  readonly #callbacks: SessionCallbacks
  readonly #state: FeedState
  readonly #live: LiveIntake
  readonly #backfill: BackfillIntake
  readonly #liveness: Liveness
  readonly #sequences = new Sequences()
  readonly #catalogue = new CatalogueParts()
  readonly #imported: ImportedSymbols
  readonly #inFlight: InFlight
  readonly #counts = { live: 0, backfill: 0, windows: 0 }
  #stopSettling: Cancel = () => undefined
  #isCatalogued = false
  #failed = false
  #left = false

  private constructor(role: Role, deps: SessionDeps, callbacks: SessionCallbacks, state: FeedState) {
    this.#role = role
    this.#deps = deps
    this.#callbacks = callbacks
    this.#state = state
    const publishFirst = role.rereadable
    this.#live = new LiveIntake(deps, state, { epoch: role.epoch ?? 0, publishFirst })
    this.#backfill = new BackfillIntake(deps, state)
    this.#inFlight = new InFlight(
      (cause) => {
        this.#failed = true
        callbacks.fail(cause)
      },
      () => callbacks.eased(),
    )
    this.#imported = new ImportedSymbols(role.feed, deps.writer)
    this.#liveness = new Liveness(deps, state, () => callbacks.view())
    if (!role.isImport)
      this.#stopSettling = deps.clock.every(settleMs, () => {
        this.#live.settled().catch((cause: unknown) => callbacks.fail(cause))
      })
  }

  /** Joins the feed and tells the collector what is known of it. */
  static async begin(role: Role, deps: SessionDeps, callbacks: SessionCallbacks): Promise<SessionWork> {
    const { state, newest, windows } = await deps.states.join(role.feed, role.isImport ? 'import' : 'live')
    const feed = callbacks.view()
    const { definition } = feed
    const feedNow = state.now(feed, deps.clock)
    callbacks.send(welcomeOf(definition, { epoch: role.epoch ?? 0, utcMs: deps.clock.utcMs(), feedNow }))
    const known = role.isImport
      ? knownParts(role.feed, new Map(), [])
      : knownParts(role.feed, newest, windows)
    for (const part of known) callbacks.send({ known: part })
    return new SessionWork(role, deps, callbacks, state)
  }

  /** So much waits for the store that no more should be read. */
  get isFull(): boolean {
    const { live, backfill, windows } = this.#counts
    return live >= liveBatchesMax || backfill >= backfillBatchesMax || windows >= windowsMax
  }

  take({ bars, message, digest }: Received): Promise<void> | void {
    if (bars) return this.#takeBars(bars, digest)
    if (!message) return undefined
    if (message.window) return this.#takeWindow(message.window, digest)
    if (message.catalogue) return this.#takeCatalogue(message.catalogue)
    if (message.heartbeat && !this.#role.isImport) this.#liveness.heartbeat(message.heartbeat)
    if (message.clockSample && !this.#role.isImport) this.#liveness.clockSample(message.clockSample)
    if (message.gap) {
      this.#deps.metrics.alarm('gap')
      this.#deps.log.error({ gap: message.gap }, 'the collector lost history')
    }
    return undefined
  }

  /** Resolves when everything received is committed, or cannot be. */
  settle(): Promise<void> {
    return this.#inFlight.settle()
  }

  leave(): void {
    if (!this.#left) this.#deps.states.leave(this.#state)
    if (!this.#left && !this.#role.isImport) this.#liveness.end()
    this.#left = true
    this.#stopSettling()
  }

  #takeBars(message: ReceivedBars, digest: string): void {
    const { sequence } = message
    if (!this.#isNew(sequence, digest)) return
    const receivedMs = this.#deps.clock.monotonicMs()
    if (message.lane === 'live' && !this.#role.isImport) {
      const { good, refused } = this.#check(message)
      this.#finish('live', message, refused, this.#live.take(good, receivedMs), receivedMs)
      return
    }
    if (message.lane !== 'backfill') {
      const wanted = this.#role.isImport ? 'LANE_BACKFILL, the lane of imports' : 'LANE_LIVE or LANE_BACKFILL'
      const got = message.lane === 'live' ? 'LANE_LIVE' : 'none that is known'
      const count = message.series.reduce((sum, series) => sum + series.count, 0)
      const refusal = refuseWhole('MALFORMED', `lane: got ${got}, wanted ${wanted}`, count)
      this.#finish('backfill', message, [refusal], Promise.resolve(noCounts), receivedMs)
      return
    }
    const refused: Refusal[] = []
    let good: readonly GoodSeries[] = []
    const taken = this.#backfill.take((): readonly GoodSeries[] => {
      const checked = this.#check(message)
      refused.push(...checked.refused)
      return (good = checked.good)
    })
    const stored = taken.then((counts) => this.#imported.stored(good).then(() => counts))
    this.#finish(this.#role.isImport ? 'import' : 'backfill', message, refused, stored, receivedMs)
    if (this.#counts.backfill === backfillBatchesSlow)
      this.#callbacks.send({ slow: { pauseMs: slowPauseMs } })
  }

  #check({ series }: ReceivedBars): CheckedBatch {
    const { view, definition } = this.#callbacks.view()
    return checkBatch(series, {
      view: this.#imported.over(view),
      definition,
      utcNow: this.#deps.clock.utcMs(),
      feedNow: this.#state.now({ view, definition }, this.#deps.clock),
      newestOf: (id) => this.#state.newest.get(id),
    })
  }

  /** Answers a batch once it is stored: what was refused, then the Ack. */
  #finish(
    lane: LaneName,
    { sequence, series }: ReceivedBars,
    refused: readonly Refusal[],
    stored: Promise<Counts>,
    receivedMs: number,
  ): void {
    const { metrics, clock } = this.#deps
    const counter: Lane = lane === 'live' ? 'live' : 'backfill'
    this.#counts[counter] += 1
    metrics.queued(lane, 1)
    const answered = stored.then((counts) => {
      metrics.committed(lane, (clock.monotonicMs() - receivedMs) / 1000)
      metrics.bars(lane, 'accepted', counts.accepted)
      metrics.bars(lane, 'revised', counts.revised)
      metrics.bars(lane, 'unchanged', counts.unchanged)
      this.#answer(sequence, refused, counts)
    })
    this.#inFlight.track(answered, lane === 'live' ? precedesAll : historyPrecedes(series), () => {
      this.#counts[counter] -= 1
      metrics.queued(lane, -1)
    })
  }

  #answer(sequence: number, refused: readonly Refusal[], counts: Counts): void {
    for (const { reason, count } of refused) this.#deps.metrics.refused(reason, count)
    if (refused.some(({ reason }) => reason === 'REVISION')) this.#deps.metrics.alarm('revision')
    for (const part of refusedParts(sequence, refused)) this.#callbacks.send(part)
    const ack = ackOf(sequence, counts)
    this.#sequences.acked(sequence, ack)
    this.#callbacks.send(ack)
  }

  #isNew(sequence: number, digest: string): boolean {
    if (!this.#isCatalogued) {
      this.#refuseUnanswered(sequence, 'NOT_CATALOGUED', notCatalogued)
      return false
    }
    const verdict = this.#sequences.take(sequence, digest)
    if (verdict.outcome === 'new') return true
    if (verdict.outcome === 'repeated') {
      if (verdict.ack) this.#callbacks.send(verdict.ack)
      return false
    }
    this.#deps.metrics.alarm('sequence')
    this.#refuseUnanswered(sequence, 'SEQUENCE', verdict.message)
    return false
  }

  /** No Ack follows. */
  #refuseUnanswered(sequence: number, reason: RefusalReason, message: string): void {
    this.#deps.metrics.refused(reason, 1)
    this.#deps.log.error({ sequence }, message)
    for (const part of refusedParts(sequence, [refuseWhole(reason, message)])) this.#callbacks.send(part)
  }

  /** Kept only after all that it speaks for is committed: a window must never claim what a crash could take. */
  #takeWindow(message: Window__Output, digest: string): void {
    const { sequence } = message
    if (!this.#isNew(sequence, digest)) return
    const { view, definition } = this.#callbacks.view()
    const { isImport } = this.#role
    const feedNow = this.#state.now({ view, definition }, this.#deps.clock)
    const known = { view: this.#imported.over(view), definition }
    const window = checkWindow(message, { ...known, feedNow, isImport })
    if ('reason' in window) {
      this.#answer(sequence, [refuseWhole(window.reason, window.message)], noCounts)
      return
    }
    this.#state.windows.expect(window)
    const passed = this.#inFlight.before(window)
    const kept = passed.then(async () => {
      if (this.#failed) throw new SessionEnd('UNAVAILABLE', 'what the window speaks for was not stored')
      await Promise.all([this.#state.windows.add(window), this.#tellComplete(window)])
    })
    this.#counts.windows += 1
    // A later window does not wait for the write of this one: both may share a write.
    this.#inFlight.track(
      kept.then(() => this.#answer(sequence, [], noCounts)),
      windowPrecedes(window),
      () => {
        this.#counts.windows -= 1
      },
      passed,
    )
  }

  /** A minute of the whole feed is told beside the write of its window: its bars are stored. */
  async #tellComplete({ symbol, resolution, from, to }: Window): Promise<void> {
    if (symbol === undefined && resolution === '1') await this.#live.complete(from, feedSeconds(to - 60))
  }

  async #takeCatalogue(part: Catalogue__Output): Promise<void> {
    const whole = this.#catalogue.add(part)
    if (!whole) return
    const { feed, isImport } = this.#role
    const { absences } = this.#state
    const { watchedUntil } = this.#state.windows
    const decide = (view: RegistryView): CatalogueChange => {
      const definition = view.feed(feed)
      if (!definition) throw new SessionEnd('FAILED_PRECONDITION', `${feed} is no longer defined`)
      return decideCatalogue(whole, { view, definition, watchedUntil, absences })
    }
    const result = await (isImport ? this.#imported.take(whole.symbols) : this.#deps.writer.change(decide))
    const { symbols, refused } = result
    absences.note(result.absent, this.#callbacks.view().view)
    if (refused.length > 0) this.#deps.log.warn({ refused: refused.slice(0, 20) }, 'symbols were refused')
    this.#deps.log.info({ symbols: symbols.length, refused: refused.length }, 'catalogue taken')
    for (const answer of cataloguedParts(part.revision, result)) this.#callbacks.send(answer)
    this.#isCatalogued = true
  }
}

const notCatalogued = 'got bars or a window before Catalogued, wanted a Catalogue of this session first'
