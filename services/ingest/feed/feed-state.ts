import { type FeedSeconds, feedNow, feedSeconds, later, type UtcMs } from '../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { knownOffset } from '../../core/registry/clock-history.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedLiveness } from '../../ports/feed-board.ts'
import type { Stores } from '../../ports/stores.ts'
import type { Heartbeat__Output } from '../../wire/gen/fxd/v1/Heartbeat.ts'
import { SessionEnd } from '../session-end.ts'
import { type AbsenceDeps, Absences } from './absences.ts'
import { FeedRegistry, type FeedRegistryDeps, type FeedView } from './feed-registry.ts'
import { FeedWindows } from './feed-windows.ts'
import { LiveIntake } from './live-intake.ts'
import { LivenessNotes } from './liveness-notes.ts'
import { OldPartitions } from './old-partitions.ts'
import { Publisher, type PublisherDeps } from './publisher.ts'
import type { SeriesSpans } from './separate-windows.ts'
import { ingestReads } from './store-history.ts'
import type { LaneDeps } from './table-lane.ts'
import { waitForStore } from './wait-for-store.ts'
import { WaitingBars } from './waiting-bars.ts'

export type FeedStateDeps = PublisherDeps & AbsenceDeps & FeedRegistryDeps & LaneDeps

/** What the newest heartbeat of the active session says of its collector. */
export type CollectorSays = Pick<
  Heartbeat__Output,
  'rejectedLines' | 'readjustedSymbols' | 'readjustmentsHeld'
>

/** What ingest keeps in memory of one feed, over all its sessions. A restart reads it from the stores, or loses it. */
export class FeedState {
  readonly key: FeedKey
  readonly registry: FeedRegistry
  readonly windows: FeedWindows
  /** The newest accepted bar time of each series, committed or in flight, by `seriesId`. */
  readonly newest = new Map<string, FeedSeconds>()
  #newestBar: FeedSeconds | undefined
  /** By series: the time of the newest published bar, or of the newest stored one if this process published none. */
  readonly pushed = new Map<string, FeedSeconds>()
  /** The newest time of each series that the store is known to have, by `seriesId`. */
  readonly stored = new Map<string, FeedSeconds>()
  /** `stored` and `windows` were read, and are not outdated. */
  isKnown = false
  /** Version of the newest backfill when `windows` were read. */
  backfill = 0
  readonly live: LiveIntake
  /** The greatest epoch of a session here. */
  epoch = 0
  readonly publisher: Publisher
  readonly absences: Absences
  /** When the live lane last delivered a bar to this process. */
  receivedAt: UtcMs | undefined
  readonly oldPartitions: OldPartitions
  newestTick: FeedSeconds | undefined
  /** A tick that contradicts the measured clock; it is the feed's time until ticks agree or a new clock is measured. */
  contradictingTick: FeedSeconds | undefined
  sessions = 0
  /** `undefined` while no collector of the feed has its session here. */
  said: CollectorSays | undefined
  readonly #notes: LivenessNotes

  readonly #dropped = new AbortController()
  #dropping: Promise<void> | undefined

  constructor(key: FeedKey, { windows }: Pick<Stores, 'windows'>, deps: FeedStateDeps, notes: LivenessNotes) {
    this.key = key
    this.registry = new FeedRegistry(key, deps)
    this.windows = new FeedWindows({
      feed: key,
      store: windows,
      sinceOf: (symbol) => this.registry.current().view.symbol(symbol)?.since,
      signal: this.signal,
    })
    this.live = new LiveIntake(deps, this)
    this.publisher = new Publisher(key, deps)
    this.absences = new Absences(key, deps)
    this.oldPartitions = new OldPartitions(deps.clock)
    this.#notes = notes
  }

  /** Aborts when what waits of this feed is dropped. */
  get signal(): AbortSignal {
    return this.#dropped.signal
  }

  /** Set once what waits is dropped; resolves when nothing of it is written any more. */
  get dropping(): Promise<void> | undefined {
    return this.#dropping
  }

  /** Drops what waits for the store, for the bus or for a timer. */
  drop(): Promise<void> {
    const why = new SessionEnd('UNAVAILABLE', `what waited of ${this.key} was dropped; connect again`)
    this.#dropped.abort(why)
    this.publisher.close()
    this.publisher.discard()
    this.absences.close()
    this.#dropping ??= Promise.all([this.live.idle(), this.windows.idle()]).then(() => undefined)
    return this.#dropping
  }

  note(liveness: FeedLiveness): void {
    this.receivedAt = liveness.receivedAt ?? this.receivedAt
    this.#notes.note(this.key, liveness)
  }

  now({ view, definition }: FeedView, clock: Clock): FeedSeconds | undefined {
    if (definition.clock.mode === 'Measured' && this.contradictingTick !== undefined)
      return this.contradictingTick
    return feedNow(clock.utcMs(), knownOffset(definition, view), this.newestTick)
  }

  /** "Now" as no bar may be later; `undefined` while only ticks show the time: a bar may arrive before its tick. */
  latest(feed: FeedView, clock: Clock): FeedSeconds | undefined {
    const isKnown = knownOffset(feed.definition, feed.view) !== undefined
    return isKnown ? this.now(feed, clock) : undefined
  }

  get newestBar(): FeedSeconds | undefined {
    return this.#newestBar
  }

  accept(id: string, time: FeedSeconds): void {
    this.newest.set(id, feedSeconds(Math.max(time, this.newest.get(id) ?? time)))
    this.#newestBar = later(this.#newestBar, time)
  }

  noteStored(ends: readonly (readonly [id: string, time: FeedSeconds])[]): void {
    for (const [id, time] of ends) this.stored.set(id, later(this.stored.get(id), time) ?? time)
  }

  forgetNewest(): void {
    this.newest.clear()
    this.#newestBar = undefined
  }

  tick(time: FeedSeconds): void {
    this.newestTick = later(this.newestTick, time)
  }
}

export interface Joined {
  readonly state: FeedState
  /** The newest stored bar time of each series, by `seriesId`. */
  readonly newest: ReadonlyMap<string, FeedSeconds>
  /** By `windowSeriesId`. */
  readonly windows: ReadonlyMap<string, SeriesSpans>
}

/** Whether a stored bar is from before the first publication of this process, or from another process. */
const isHistory = (
  stored: FeedSeconds,
  pushed: FeedSeconds | undefined,
  accepted: FeedSeconds | undefined,
): boolean => pushed === undefined || stored > (accepted ?? pushed)

/** The states of all feeds that had a session since the start of the process, without hidden feeds. */
export class FeedStates {
  readonly #stores: Pick<Stores, 'bars' | 'windows' | 'board'>
  readonly #deps: FeedStateDeps
  readonly #notes: LivenessNotes
  readonly #states = new Map<FeedKey, FeedState>()
  readonly #dropping = new Map<FeedKey, Promise<void>>()

  constructor(
    stores: Pick<Stores, 'bars' | 'windows' | 'board'>,
    deps: Omit<FeedStateDeps, 'stores' | 'waiting'>,
  ) {
    this.#stores = stores
    this.#deps = { ...deps, stores, waiting: new WaitingBars(stores.bars) }
    this.#notes = new LivenessNotes(stores.board, deps)
  }

  /** `undefined` for a feed without a session since the start. */
  of(key: FeedKey): FeedState | undefined {
    return this.#states.get(key)
  }

  /**
   * Reads the state and all windows of the feed from the stores. Without the store, or while live bars wait for it,
   * they are those in memory. A feed that this process does not know waits for the store. Call `leave` when the
   * session ends. Rejects with `SessionEnd` if no manifest defines the feed any more, and when the signal aborts.
   */
  async join(key: FeedKey, mode: 'live' | 'import', signal: AbortSignal): Promise<Joined> {
    const state = this.#states.get(key) ?? this.#add(key)
    state.sessions += 1
    try {
      const read = (): Promise<void> => this.#read(state, mode)
      if (!state.isKnown) await waitForStore(read, { clock: this.#deps.clock, signal })
      // While bars wait, a store that hangs would answer nothing before the deadline of the reads.
      else if (state.live.isIdle)
        await read().catch((cause: unknown) => {
          if (!(cause instanceof Unavailable)) throw cause
        })
      state.isKnown = true
      return { state, newest: state.stored, windows: state.windows.stored }
    } catch (cause) {
      this.leave(state)
      throw cause
    }
  }

  leave(state: FeedState): void {
    state.sessions -= 1
  }

  /**
   * Drops the states of hidden feeds, and of all feeds when the store was replaced. Another ingest may purge a hidden
   * feed, and the old state would be wrong when the feed is defined again. As after a restart, collectors send
   * messages without an Ack again.
   */
  forget(isGone: (feed: FeedKey) => boolean): void {
    for (const [key, state] of this.#states) {
      if (!isGone(key)) continue
      this.#states.delete(key)
      const dropping = state.drop()
      this.#dropping.set(key, dropping)
      void dropping.then(() => {
        if (this.#dropping.get(key) === dropping) this.#dropping.delete(key)
      })
    }
  }

  /** The feeds whose windows were withdrawn since they were read: their next session reads them from the store. */
  withdrawn(view: RegistryView): readonly FeedKey[] {
    return [...this.#states].flatMap(([key, state]) => {
      const backfill = view.backfills.get(key) ?? 0
      if (backfill <= state.backfill) return []
      state.backfill = backfill
      this.outdate(key)
      return [key]
    })
  }

  /** The store has changed under what is known of this feed: its next session reads the store again. */
  outdate(key: FeedKey): void {
    const state = this.#states.get(key)
    if (state) state.isKnown = false
  }

  /** Resolves when nothing of a hidden feed is written any more. */
  async dropped(key: FeedKey): Promise<void> {
    await this.#dropping.get(key)
  }

  /** Drops what waits for the store or the bus: nothing of it was acknowledged. */
  close(): void {
    for (const state of this.#states.values()) void state.drop()
  }

  async #read(state: FeedState, mode: 'live' | 'import'): Promise<void> {
    const { key, pushed, stored } = state
    state.backfill = this.#deps.registry.view().backfills.get(key) ?? 0
    const [newest, liveness] = await Promise.all([
      // A table out of order must not end the collection of the feed's other series.
      this.#stores.bars.lastTimes(key, { ...ingestReads(key, 'live'), isPartial: true }),
      this.#stores.board.read([key]),
      state.windows.load(),
    ])
    const acceptedHere = new Map(state.newest)
    // Without other sessions the feed may have been purged meanwhile; other sessions may know newer bars.
    if (state.sessions === 1 && state.live.isIdle) state.forgetNewest()
    stored.clear()
    for (const [id, time] of newest) {
      stored.set(id, time)
      state.accept(id, time)
      if (mode === 'live' && isHistory(time, pushed.get(id), acceptedHere.get(id))) pushed.set(id, time)
    }
    const tick = liveness.get(key)?.newestTick
    if (tick !== undefined) state.tick(tick)
  }

  #add(key: FeedKey): FeedState {
    const state = new FeedState(key, this.#stores, this.#deps, this.#notes)
    // Throws for a hidden feed: nothing would forget a state that is made after the hiding.
    state.registry.current()
    this.#states.set(key, state)
    return state
  }
}
