import { sleep } from '../../../clients/typescript/src/pause.ts'
import type { Range } from '../../../clients/typescript/src/types.ts'

/** With status and coverage this leaves requests to a key that has 30 a minute. */
const gatherMs = 10_000

/** Gathers ranges for a time, and reads what contains all of them again. One reading runs at a time. */
export class Renewal {
  readonly #read: (range: Range) => Promise<void>
  readonly #signal: AbortSignal
  #wanted: Range | undefined
  #isRunning = false

  constructor(read: (range: Range) => Promise<void>, signal: AbortSignal) {
    this.#read = read
    this.#signal = signal
  }

  /** Nobody waits for the reading. */
  add({ from, to }: Range): void {
    const present = this.#wanted
    this.#wanted = present
      ? { from: Math.min(from, present.from), to: Math.max(to, present.to) }
      : { from, to }
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#wanted) {
      await sleep(gatherMs, this.#signal)
      if (this.#signal.aborted) return
      const range = this.#wanted
      this.#wanted = undefined
      await this.#read(range)
    }
    this.#isRunning = false
  }
}
