import type { FeedKey } from '../core/compound-key.ts'
import type { FeedDefinition } from '../core/feed.ts'
import { type FeedSeconds, feedNow, feedSeconds, fixedOffset } from '../core/feed-clock.ts'
import type { Window } from '../core/window.ts'
import type { Clock } from '../ports/clock.ts'
import type { Stores } from '../ports/stores.ts'
import { Unstored } from './unstored.ts'
import { FeedWindows } from './windows.ts'

/**
 * What ingest remembers of one feed over all its sessions, live and imports. Nothing here is the
 * truth: lost in a restart, it is read again or grows anew.
 */
export class FeedState {
  readonly key: FeedKey
  readonly windows: FeedWindows
  /** The newest bar time accepted of each series, committed or under way, by `seriesId`. */
  readonly newest = new Map<string, FeedSeconds>()
  /** The newest bar time published of each series; of one that published none, where its live bars began. */
  readonly pushed = new Map<string, FeedSeconds>()
  readonly unstored = new Unstored()
  /** The greatest epoch that published here; what belongs to no lease is published under it too. */
  epoch = 0
  newestTick: FeedSeconds | undefined
  sessions = 0

  constructor(key: FeedKey, windows: FeedWindows) {
    this.key = key
    this.windows = windows
  }

  now(definition: FeedDefinition, clock: Clock): FeedSeconds | undefined {
    return feedNow(clock.utcMs(), fixedOffset(definition.clock), this.newestTick)
  }

  accept(id: string, time: FeedSeconds): void {
    this.newest.set(id, feedSeconds(Math.max(time, this.newest.get(id) ?? time)))
  }

  tick(time: FeedSeconds): void {
    if (this.newestTick === undefined || time > this.newestTick) this.newestTick = time
  }
}

export interface Joined {
  readonly state: FeedState
  /** The newest stored bar time of each series, by `seriesId`. */
  readonly newest: ReadonlyMap<string, FeedSeconds>
  readonly windows: readonly Window[]
}

/** The feeds that had a session since the start. */
export class FeedStates {
  readonly #stores: Pick<Stores, 'bars' | 'windows' | 'board'>
  readonly #states = new Map<FeedKey, FeedState>()

  constructor(stores: Pick<Stores, 'bars' | 'windows' | 'board'>) {
    this.#stores = stores
  }

  /**
   * The state, and all windows, as the store has them now; call `leave` when the session ends.
   * A live session first stores what an earlier one left, and does not begin without.
   */
  async join(key: FeedKey, mode: 'live' | 'import'): Promise<Joined> {
    const state = this.#states.get(key) ?? new FeedState(key, new FeedWindows(key, this.#stores.windows))
    this.#states.set(key, state)
    state.sessions += 1
    try {
      if (mode === 'live') await state.unstored.write(this.#stores.bars)
      const [newest, signs, windows] = await Promise.all([
        this.#stores.bars.lastTimes(key),
        this.#stores.board.read([key]),
        state.windows.load(),
      ])
      // A feed may have been purged since the last session; while others run, theirs may be newer.
      if (state.sessions === 1) state.newest.clear()
      for (const [id, time] of newest) {
        state.accept(id, time)
        // What is stored is in the history that every socket of this process began with.
        if (mode === 'live' && !state.pushed.has(id)) state.pushed.set(id, time)
      }
      const tick = signs.get(key)?.newestTick
      if (tick !== undefined) state.tick(tick)
      return { state, newest, windows }
    } catch (cause) {
      this.leave(state)
      throw cause
    }
  }

  leave(state: FeedState): void {
    state.sessions -= 1
  }

  /** Of a feed without sessions: what waits to be stored is dropped; resolves once nothing is on its way. */
  async forget(key: FeedKey): Promise<void> {
    const state = this.#states.get(key)
    this.#states.delete(key)
    await state?.windows.discard()
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#states.values()].map((state) => state.windows.flush()))
  }
}
