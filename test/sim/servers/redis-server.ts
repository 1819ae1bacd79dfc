import type { FeedKey } from '../../../services/core/feeds/compound-key.ts'
import type { FeedLiveness } from '../../../services/core/feeds/feed-status.ts'
import type { RateUse } from '../../../services/core/keys/rate-window.ts'
import type { FeedBoard } from '../../../services/ports/feed-board.ts'
import type { Leases } from '../../../services/ports/lease.ts'
import type { Limits } from '../../../services/ports/limits.ts'
import type { Slots } from '../../../services/ports/slots.ts'
import { embeddedFeedBoard } from '../../../services/stores/embedded/feed-board.ts'
import { embeddedLimits } from '../../../services/stores/embedded/limits.ts'
import { DailyUsage } from '../../../services/stores/embedded/memory/daily-usage.ts'
import { Remembered } from '../../../services/stores/embedded/memory/remembered.ts'
import { embeddedSlots } from '../../../services/stores/embedded/slots.ts'
import type { Network } from '../runtime/network.ts'
import type { SimProcess } from '../runtime/timeline.ts'
import { LeaseServer, leasesOver } from './lease-server.ts'

/**
 * Leases, slots, limits and feed board of all processes, called over the simulated network. Leases follow the
 * Redis scripts; the others are the embedded adapters.
 */
export class RedisServer {
  readonly #network: Network
  readonly #leases: LeaseServer
  #slots: Slots
  #limits: Limits
  readonly #board: FeedBoard

  /** `slotsStay`: a planted defect, slots never lapse. */
  constructor(process: SimProcess, network: Network, slotsStay = false) {
    this.#network = network
    this.#leases = new LeaseServer(process.clock)
    const { clock } = process
    const usage = new DailyUsage(clock, [])
    this.#slots = embeddedSlots(usage, slotsStay ? { ...clock, monotonicMs: () => 0 } : clock)
    const liveness = new Remembered<FeedKey, FeedLiveness>([])
    const uses = new Remembered<string, RateUse>([])
    this.#limits = embeddedLimits({ usage, uses, liveness, close: () => Promise.resolve() }, noReaders, clock)
    this.#board = embeddedFeedBoard(liveness)
  }

  forgetLeases(): void {
    this.#leases.forget()
  }

  /** The ports for one process. */
  of(process: SimProcess): { leases: Leases; slots: Slots; limits: Limits; board: FeedBoard } {
    const overNetwork = <P extends object>(port: () => P): P =>
      new Proxy({} as P, {
        get: (_, name: string) =>
          // `await` reads `then` of the proxy; a port is not a promise.
          name === 'then'
            ? undefined
            : (...args: unknown[]): Promise<unknown> =>
                this.#network
                  .call(process, 'redis', name, () =>
                    (port() as Record<string, (...args: unknown[]) => Promise<unknown>>)[name]?.(...args),
                  )
                  .then((answer) => answer),
      })
    return {
      leases: leasesOver(this.#leases, (what, run) => this.#network.call(process, 'redis', what, run)),
      slots: overNetwork(() => this.#slots),
      limits: overNetwork(() => this.#limits),
      board: overNetwork(() => this.#board),
    }
  }
}

const noReaders = { call: () => Promise.reject(new Error('no closed days here')) } as never
