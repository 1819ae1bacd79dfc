import type { Rest } from './rest.ts'
import { minute } from './time.ts'
import type { Status } from './types.ts'

/** A clock that falls back stops bars for as long; a shorter silence is no reason to ask. */
const silenceSeconds = 1_700
const leastStep = 900

interface Seen {
  /** Open of the newest minute, and how much later, in seconds, it was seen. */
  time: number
  lag: number
  /** The newest minute before a long silence that is not explained yet. */
  suspect?: number | undefined
}

/** Follows the clocks of the feeds, and finds the minutes that a clock repeats when it falls back. */
export class Clocks {
  readonly #rest: Rest
  readonly #signal: AbortSignal
  readonly #fellBack: (feed: string, from: number, to: number) => void
  readonly #seen = new Map<string, Seen>()
  #offsets: ReadonlyMap<string, number> = new Map()
  /** Milliseconds of the service's clock less those of `performance.now`. The clock of the machine may be wrong. */
  #aheadMs = 0
  #isAsking = false

  constructor(rest: Rest, signal: AbortSignal, fellBack: (feed: string, from: number, to: number) => void) {
    this.#rest = rest
    this.#signal = signal
    this.#fellBack = fellBack
  }

  /** Throws what is not transient, such as a wrong key. */
  async begin(): Promise<Status> {
    const status = await this.#rest.getPatiently<Status>('status', {}, undefined, this.#signal)
    this.#aheadMs = status.server_time * 1_000 - performance.now()
    this.#offsets = offsetsOf(status)
    return status
  }

  /** Open time of the newest minute that has closed on the feed's clock; `undefined`: the clock is unknown. */
  newestClosed(feed: string): number | undefined {
    const offset = this.#offsets.get(feed)
    if (offset === undefined) return undefined
    const present = (performance.now() + this.#aheadMs) / 1_000 - offset
    return Math.floor(present / minute) * minute - minute
  }

  /** A frame of this minute arrived. */
  saw(feed: string, time: number): void {
    const seen = this.#seen.get(feed)
    const lag = Date.now() / 1_000 - time
    if (!seen) return void this.#seen.set(feed, { time, lag })
    if (time <= seen.time) return
    if (lag - seen.lag >= silenceSeconds) seen.suspect ??= seen.time
    seen.time = time
    seen.lag = lag
  }

  /** Asks for the offsets after a long silence. After a failure the next call asks again. */
  async review(): Promise<void> {
    const suspects = [...this.#seen].filter(([, { suspect }]) => suspect !== undefined)
    if (suspects.length === 0 || this.#isAsking) return
    this.#isAsking = true
    try {
      const offsets = offsetsOf(await this.#rest.get('status', {}, this.#signal))
      for (const [feed, seen] of suspects) {
        const { suspect } = seen
        const [before, now] = [this.#offsets.get(feed), offsets.get(feed)]
        // A clock that was set is unknown until it is measured again.
        if (suspect === undefined || now === undefined) continue
        seen.suspect = undefined
        const step = now - (before ?? now)
        if (step >= leastStep) this.#fellBack(feed, suspect - step + minute, suspect)
      }
      this.#offsets = new Map([...this.#offsets, ...offsets])
    } catch {
      // The next call asks again.
    } finally {
      this.#isAsking = false
    }
  }
}

function offsetsOf({ feeds }: Status): Map<string, number> {
  return new Map(
    Object.entries(feeds).flatMap(([feed, { clock_offset_seconds: offset }]) =>
      offset === undefined ? [] : [[feed, offset] as const],
    ),
  )
}
