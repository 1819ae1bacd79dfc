import type { Window } from '../core/bars/window.ts'
import type { Withdrawal } from '../core/bars/withdrawal.ts'
import type { Reader } from '../core/fair-queue.ts'
import type { CompoundKey, FeedKey } from '../core/feeds/compound-key.ts'

/**
 * Acknowledged windows, from which coverage is computed. Contract (test/contract/suites/windows.ts):
 *  - `add` waits for the store, however long, and resolves after the commit. It rejects when the store closes, or when
 *    `signal` aborts. Adding is a union, so order, repeats and overlaps do not matter;
 *  - `of` returns the windows of one feed, ascending; with a symbol only its own and those of the whole feed, and reads
 *    no others. Windows of the same resolution, and of the same symbol or
 *    the whole feed, are joined where they touch or overlap. Keys of readers take turns as with bars.
 *    The deadline is 2 s for a reader, and 15 s without one: a starting session waits for years of windows;
 *  - `withdraw` removes these times from the windows, and no process adds them again by growing a window of its own.
 *    After an error another call continues.
 */
export interface WindowStore {
  add(windows: readonly Window[], signal?: AbortSignal): Promise<void>
  of(feed: FeedKey, reader?: Reader, symbol?: CompoundKey): Promise<readonly Window[]>
  withdraw(of: Withdrawal): Promise<void>
  purge(feed: FeedKey): Promise<void>
}
