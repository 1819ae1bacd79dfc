import { setTimeout as pause } from 'node:timers/promises'
import type { RedisGroup } from './sentinels.ts'

const stableMs = 1_500
/** A Sentinel that was delayed by two seconds replaces no primary for 30 s (TILT). This timeout is longer. */
const failoverTimeoutMs = 60_000

/** Kills the primary of a group `times` times, and waits each time until the other server is primary. */
export class Failovers {
  readonly #group: RedisGroup
  readonly #times: number
  /** True after the last failover and a pause. */
  isOver = false

  constructor(group: RedisGroup, times: number) {
    this.#group = group
    this.#times = times
  }

  async run(): Promise<void> {
    try {
      for (let i = 0; i < this.#times; i++) await this.#once()
      await pause(2 * stableMs)
    } finally {
      this.isOver = true
    }
  }

  async #once(): Promise<void> {
    await this.#group.replicated()
    await pause(stableMs)
    const old = await this.#group.primary()
    await old.kill()
    const end = Date.now() + failoverTimeoutMs
    while ((await this.#group.primary()).port === old.port) {
      if (Date.now() > end) throw new Error('No replica took over.')
      await pause(50)
    }
    await old.start()
    await this.#group.replicated()
  }
}
