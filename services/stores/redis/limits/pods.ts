import { type UtcMs, utcMs } from '../../../core/clocks/feed-clock.ts'
import type { Cancel } from '../../../ports/clock.ts'
import type { Keys } from '../keys.ts'
import { type Calls, serverRun, type Word } from '../link/calls.ts'
import type { Connection } from '../link/connection.ts'
import type { RedisStoreOptions } from '../options.ts'
import { scripts } from '../scripts.ts'

/**
 * Heartbeat interval: a new pod may be unknown to the others for this long. It also shows that Redis is reachable,
 * which keeps the slots' data valid.
 */
const heartbeatMs = 1_000
/** Time for which an ended pod still counts. Until then each share is too small, never too large. */
const podLeaseMs = 10_000

export interface PodsDeps extends Pick<RedisStoreOptions, 'clock' | 'time' | 'admits' | 'pods'> {
  readonly connection: Connection
  readonly calls: Calls
  readonly keys: Keys
  readonly givenTime: () => string
}

/** How many pods admit requests, and Redis's time, as of the last answered heartbeat. */
export class Pods {
  readonly #deps: PodsDeps
  readonly #name: string
  readonly #stop: Cancel
  #count: number
  #aheadMs = 0

  constructor(deps: PodsDeps) {
    this.#deps = deps
    this.#name = deps.clock.randomHex(8)
    this.#count = deps.pods
    this.#stop = deps.clock.every(heartbeatMs, () => void this.#meet())
    deps.connection.onReady(() => void this.#meet())
  }

  get count(): number {
    return this.#count
  }

  /** Redis's time, calculated while Redis is unavailable. */
  nowMs(): UtcMs {
    const { clock, time } = this.#deps
    return time === undefined ? utcMs(clock.utcMs() + this.#aheadMs) : time.utcMs()
  }

  noteTime(redisMs: UtcMs): void {
    this.#aheadMs = redisMs - this.#deps.clock.utcMs()
  }

  /** Removes this pod, so that the others' shares grow immediately. */
  async close(): Promise<void> {
    this.#stop()
    const { calls, keys, admits } = this.#deps
    if (admits) await calls.command('zrem', keys.pods, this.#name).catch(() => undefined)
  }

  async #meet(): Promise<void> {
    const { calls, keys, givenTime, admits } = this.#deps
    try {
      const args: Word[] = [givenTime(), admits ? this.#name : '', podLeaseMs, serverRun]
      const reply = await calls.script(scripts.meetPods, [keys.pods, keys.slotsLife], args)
      const [count, ms] = reply as [number, number]
      this.#count = Math.max(1, count)
      this.noteTime(utcMs(ms))
    } catch {
      // The next heartbeat tries again; until then the last known values apply.
    }
  }
}
