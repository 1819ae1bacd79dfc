import { type Bars, barCount, pickBars } from '../../../core/bars/bar.ts'
import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'

/** Minutes per block of memory, two bytes each; bars open on whole minutes. All minutes since 1970 take 60 MiB, and 90 MiB with a measured clock. */
const blockMinutes = 1_024
const minuteSeconds = 60

/** Knows, for several files of one series, which file is the last one that contains a time. */
export class Owners {
  readonly #blocks = new Map<number, Uint16Array>()
  readonly #latest: FeedSeconds

  /** Times after `latest` take no memory and get no owner: ingest refuses their bars, whichever file they are from. */
  constructor(latest: FeedSeconds) {
    this.#latest = latest
  }

  /** Called for the files in their order: a later file takes over a time. */
  claim(bars: Bars, file: number): void {
    for (const time of bars.time) {
      if (time > this.#latest) continue
      const minute = Math.floor(time / minuteSeconds)
      const key = Math.floor(minute / blockMinutes)
      let block = this.#blocks.get(key)
      if (!block) this.#blocks.set(key, (block = new Uint16Array(blockMinutes)))
      block[minute - key * blockMinutes] = file + 1
    }
  }

  /** Returns the bars whose times no later file contains. */
  of(bars: Bars, file: number): Bars {
    const isTaken = (i: number): boolean => {
      const minute = Math.floor((bars.time[i] as number) / minuteSeconds)
      const key = Math.floor(minute / blockMinutes)
      return (this.#blocks.get(key)?.[minute - key * blockMinutes] ?? 0) > file + 1
    }
    for (let i = 0; i < barCount(bars); i++) if (isTaken(i)) return pickBars(bars, (each) => !isTaken(each))
    return bars
  }
}
