import { knownOffset } from '../../core/clocks/clock-history.ts'
import { type FeedSeconds, feedNow, fixedOffset } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedBoard } from '../../ports/feed-board.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'

const readEveryMs = 5_000

export interface FeedNow {
  readonly time: FeedSeconds
  /** False: a tick told of it some time ago. */
  readonly isExact: boolean
}

/** Now on every feed's clock without waiting: where it is unknown, the newest tick as read some seconds ago. */
export class FeedClocks {
  readonly #parts: { readonly registry: FollowedRegistry; readonly board: FeedBoard; readonly clock: Clock }
  readonly #newestTicks = new Map<FeedKey, FeedSeconds>()
  readonly close: () => void

  constructor(parts: {
    readonly registry: FollowedRegistry
    readonly board: FeedBoard
    readonly clock: Clock
    readonly log: Log
  }) {
    this.#parts = parts
    const read = (): void => {
      this.#read().catch((cause: unknown) =>
        parts.log.warn({ err: cause }, 'the newest ticks could not be read; going on with the last ones'),
      )
    }
    this.close = parts.clock.every(readEveryMs, read)
    read()
  }

  /** `undefined`: nothing is known, as before the first tick, or while the feed board is away since the start. */
  now(feed: FeedKey): FeedNow | undefined {
    const { registry, clock } = this.#parts
    const view = registry.view()
    const definition = view.feed(feed)
    const offset = definition && knownOffset(definition, view)
    const time = feedNow(clock.utcMs(), offset, this.#newestTicks.get(feed))
    return time === undefined ? undefined : { time, isExact: offset !== undefined }
  }

  async #read(): Promise<void> {
    const { registry, board } = this.#parts
    if (!registry.loaded) return
    const measured = registry
      .view()
      .feeds()
      .flatMap(({ key, clock }) => (fixedOffset(clock) === undefined ? [key] : []))
    if (measured.length === 0) return
    for (const [feed, { newestTick }] of await board.read(measured))
      if (newestTick !== undefined) this.#newestTicks.set(feed, newestTick)
  }
}
