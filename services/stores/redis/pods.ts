import type { Cancel, Clock } from '../../ports/clock.ts'
import { type Calls, serverRun, type Word } from './calls.ts'
import type { Connection } from './connection.ts'
import type { Keys } from './keys.ts'
import { scripts } from './scripts.ts'

/** For so long after a pod joined the others may not know of it. What the slots' life takes for a sign of life, too. */
const heartbeatMs = 1_000
/** A pod that is gone counts for this long: shares are rather too small. */
const podLeaseMs = 10_000

export interface PodsDeps {
  readonly connection: Connection
  readonly calls: Calls
  readonly keys: Keys
  readonly given: () => string
  readonly clock: Clock
  readonly time?: Clock
  /** Whether this process counts. */
  readonly admits: boolean
}

/** How many pods admit requests, and what Redis's clock says: known from the last heartbeat that was answered. */
export class Pods {
  readonly #deps: PodsDeps
  readonly #name: string
  readonly #stop: Cancel
  #count: number | undefined
  #aheadMs = 0

  constructor(deps: PodsDeps) {
    this.#deps = deps
    this.#name = deps.clock.randomHex(8)
    this.#stop = deps.clock.every(heartbeatMs, () => void this.#meet())
    deps.connection.onReady(() => void this.#meet())
  }

  /** `undefined` while this process has never met the others. */
  get count(): number | undefined {
    return this.#count
  }

  /** Redis's time, reckoned while it is away. */
  nowMs(): number {
    const { clock, time } = this.#deps
    return time === undefined ? clock.utcMs() + this.#aheadMs : time.utcMs()
  }

  /** What an answer of Redis says of its clock. */
  noteTime(redisMs: number): void {
    this.#aheadMs = redisMs - this.#deps.clock.utcMs()
  }

  /** The others' shares grow at once. */
  async close(): Promise<void> {
    this.#stop()
    const { calls, keys, admits } = this.#deps
    if (admits) await calls.command('zrem', keys.pods, this.#name).catch(() => undefined)
  }

  async #meet(): Promise<void> {
    const { calls, keys, given, admits } = this.#deps
    try {
      const args: Word[] = [given(), admits ? this.#name : '', podLeaseMs, serverRun]
      const reply = await calls.script(scripts.meetPods, [keys.pods, keys.slotsLife], args)
      const [count, ms] = reply as [number, number]
      this.#count = Math.max(1, count)
      this.noteTime(ms)
    } catch {
      // The next heartbeat tells; until then what was known last holds.
    }
  }
}
