import { setTimeout as pause } from 'node:timers/promises'
import type { RedisGroup } from './sentinels.ts'

const calmMs = 1_500
const patienceMs = 30_000

/** Kills the primary of a group so many times, and waits each time until another one took over. */
export class FailingOver {
  readonly #group: RedisGroup
  readonly #times: number
  /** Once the last one took over and was calm for a while. */
  isOver = false

  constructor(group: RedisGroup, times: number) {
    this.#group = group
    this.#times = times
  }

  async run(): Promise<void> {
    try {
      for (let i = 0; i < this.#times; i++) await this.#once()
      await pause(2 * calmMs)
    } finally {
      this.isOver = true
    }
  }

  async #once(): Promise<void> {
    await this.#group.replicated()
    await pause(calmMs)
    const old = await this.#group.primary()
    await old.kill()
    const end = Date.now() + patienceMs
    while ((await this.#group.primary()).port === old.port) {
      if (Date.now() > end) throw new Error('No replica took over.')
      await pause(50)
    }
    await old.start()
    await this.#group.replicated()
  }
}
