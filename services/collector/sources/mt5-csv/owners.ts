import { type Bars, barCount, pickBars } from '../../../core/bars/bar.ts'

/** Bars open on whole minutes; so many of them share one piece of memory, two bytes each. */
const blockMinutes = 64
const minuteSeconds = 60

/** Of several files that tell of one series, which is the last to tell of each time. */
export class Owners {
  readonly #blocks = new Map<number, Uint16Array>()

  /** Files claim in their order: a later one takes a time over. */
  claim(bars: Bars, file: number): void {
    for (const time of bars.time) {
      const minute = Math.floor(time / minuteSeconds)
      const key = Math.floor(minute / blockMinutes)
      let block = this.#blocks.get(key)
      if (!block) this.#blocks.set(key, (block = new Uint16Array(blockMinutes)))
      block[minute - key * blockMinutes] = file + 1
    }
  }

  /** Those of the bars that no later file tells of. */
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
