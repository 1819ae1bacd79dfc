import type { SeriesBars } from '../../core/bars/series.ts'
import { type FeedSeconds, feedNow, feedSeconds, later, type UtcMs } from '../../core/clocks/feed-clock.ts'
import { TableOutOfOrder } from '../../core/failure.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { knownOffset } from '../../core/registry/clock-history.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedLiveness } from '../../ports/feed-board.ts'
import type { Stores } from '../../ports/stores.ts'
import { type AbsenceDeps, Absences } from './absences.ts'
import { FeedRegistry, type FeedRegistryDeps, type FeedView } from './feed-registry.ts'
import { FeedWindows } from './feed-windows.ts'
import { LivenessNotes } from './liveness-notes.ts'
import { OldPartitions } from './old-partitions.ts'
import { Publisher, type PublisherDeps } from './publisher.ts'
import type { SeriesSpans } from './separate-windows.ts'
import { ingestReads } from './store-history.ts'

type FeedStores = Pick<Stores, 'bars' | 'windows' | 'board'>

export type FeedStateDeps = PublisherDeps & AbsenceDeps & FeedRegistryDeps

/**
 * Live bars of one feed that were published but not stored, or not readable: readers have them from the tail of the bus only. No
 * live session starts before they are stored, so no event claims that the store has them. They are at most the
 * bars that one session had in flight.
 */
class UnstoredBars {
  readonly #batches = new Set<readonly SeriesBars[]>()

  get isEmpty(): boolean {
    return this.#batches.size === 0
  }

  add(batch: readonly SeriesBars[]): void {
    this.#batches.add(batch)
  }

  /**
   * Resolves once all are stored, except those of a table out of order: readers get failures for it, and the collector
   * sends its bars again. After another error the rest stays for the next call.
   */
  async write(store: Pick<BarStore, 'write'>): Promise<void> {
    for (const batch of this.#batches) {
      await store.write(batch, 'live').catch((cause: unknown) => {
        if (!(cause instanceof TableOutOfOrder)) throw cause
      })
      this.#batches.delete(batch)
    }
  }
}

/**
 * What ingest keeps in memory of one feed, over all its live and import sessions. After a restart it is read from
 * the stores again, or starts empty.
 */
export class FeedState {
  readonly key: FeedKey
  readonly registry: FeedRegistry
  readonly windows: FeedWindows
  /** The newest accepted bar time of each series, committed or in flight, by `seriesId`. */
  readonly newest = new Map<string, FeedSeconds>()
  /** The greatest open time in `newest`. */
  #newestBar: FeedSeconds | undefined
  /** The newest published bar time of each series. Before the first publication: the second before its first live bar. */
  readonly pushed = new Map<string, FeedSeconds>()
  readonly unstored = new UnstoredBars()
  readonly publisher: Publisher
  readonly absences: Absences
  /** When the live lane last delivered a bar to this process. */
  receivedAt: UtcMs | undefined
  readonly oldPartitions: OldPartitions
  newestTick: FeedSeconds | undefined
  /** A tick that contradicts the measured clock; it is the feed's time until ticks agree or a new clock is measured. */
  contradictingTick: FeedSeconds | undefined
  sessions = 0
  /** As the collector of the active session here says. */
  rejectedLines: number | undefined
  readonly #notes: LivenessNotes

  constructor(key: FeedKey, stores: FeedStores, deps: FeedStateDeps, notes: LivenessNotes) {
    this.key = key
    this.registry = new FeedRegistry(key, deps)
    this.windows = new FeedWindows(
      key,
      stores.windows,
      (symbol) => this.registry.current().view.symbol(symbol)?.since,
    )
    this.publisher = new Publisher(key, deps)
    this.absences = new Absences(key, deps)
    this.oldPartitions = new OldPartitions(deps.clock)
    this.#notes = notes
  }

  /** Sends liveness to the feed board, without waiting for it. */
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

  /** Forgets all accepted bar times. */
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

/**
 * Whether a stored bar is history here: this process does not publish it. It was stored before this process
 * published its series, or by another process since. Readers that missed it read the store.
 */
const isHistory = (
  stored: FeedSeconds,
  pushed: FeedSeconds | undefined,
  accepted: FeedSeconds | undefined,
): boolean => pushed === undefined || stored > (accepted ?? pushed)

/** The states of all feeds that had a session since the start of the process, without hidden feeds. */
export class FeedStates {
  readonly #stores: FeedStores
  readonly #deps: FeedStateDeps
  readonly #notes: LivenessNotes
  readonly #states = new Map<FeedKey, FeedState>()

  constructor(stores: FeedStores, deps: FeedStateDeps) {
    this.#stores = stores
    this.#deps = deps
    this.#notes = new LivenessNotes(stores.board, deps)
  }

  /** When the live lane last delivered a bar of the feed to this process. */
  receivedAt(key: FeedKey): UtcMs | undefined {
    return this.#states.get(key)?.receivedAt
  }

  /** Lines that the collector of the feed rejects; `undefined` if it says nothing, or has its session elsewhere. */
  rejectedLines(key: FeedKey): number | undefined {
    return this.#states.get(key)?.rejectedLines
  }

  /** `undefined` for a feed without a session since the start. */
  of(key: FeedKey): FeedState | undefined {
    return this.#states.get(key)
  }

  /**
   * Reads the state and all windows of the feed from the stores. Call `leave` when the session ends.
   * A live session first stores bars that an earlier one could not store, and rejects if that fails.
   * Rejects with `SessionEnd` if no manifest defines the feed any more.
   */
  async join(key: FeedKey, mode: 'live' | 'import'): Promise<Joined> {
    const state = this.#states.get(key) ?? this.#add(key)
    state.sessions += 1
    try {
      if (mode === 'live') await state.unstored.write(this.#stores.bars)
      const [newest, liveness, windows] = await Promise.all([
        // A table out of order must not end the collection of the feed's other series.
        this.#stores.bars.lastTimes(key, { ...ingestReads(key, 'live'), isPartial: true }),
        this.#stores.board.read([key]),
        state.windows.load(),
      ])
      const acceptedHere = new Map(state.newest)
      // Without other sessions the feed may have been purged meanwhile; other sessions may know newer bars.
      if (state.sessions === 1) state.forgetNewest()
      for (const [id, time] of newest) {
        state.accept(id, time)
        if (mode === 'live' && isHistory(time, state.pushed.get(id), acceptedHere.get(id)))
          state.pushed.set(id, time)
      }
      const tick = liveness.get(key)?.newestTick
      if (tick !== undefined) state.tick(tick)
      return { state, newest, windows }
    } catch (cause) {
      this.leave(state)
      throw cause
    }
  }

  leave(state: FeedState): void {
    state.sessions -= 1
    if (state.sessions > 0) return
    state.windows.unload()
    if (this.#states.get(state.key) !== state) drop(state)
  }

  /**
   * Forgets the states of hidden feeds, and of all feeds when the store was replaced. Another ingest may purge a hidden
   * feed, and the old state would be wrong when the feed is defined again. Sessions that are still ending keep the forgotten state. As after a
   * restart, collectors send messages without an Ack again.
   */
  forget(isGone: (feed: FeedKey) => boolean): void {
    for (const [key, state] of this.#states) {
      if (!isGone(key)) continue
      this.#states.delete(key)
      if (state.sessions === 0) drop(state)
    }
  }

  /** Stops publishing, and hiding symbols. */
  close(): void {
    for (const { publisher, absences } of this.#states.values()) {
      publisher.close()
      absences.close()
    }
  }

  #add(key: FeedKey): FeedState {
    const state = new FeedState(key, this.#stores, this.#deps, this.#notes)
    // Throws for a hidden feed: nothing would forget a state that is made after the hiding.
    state.registry.current()
    this.#states.set(key, state)
    return state
  }
}

/** Drops what waits for the bus or for a timer. */
function drop({ publisher, absences }: FeedState): void {
  publisher.close()
  publisher.discard()
  absences.close()
}
