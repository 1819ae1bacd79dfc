import type { Resolution } from '../../core/feeds/resolution.ts'

/**
 * Maximum unacknowledged bars of one kind: four hours of an outage of the store for 1,600 symbols, each bar about half a KB.
 * Above it the session ends, and the spool or the source has the bars.
 */
const inFlightBarsMax = 500_000

interface Work {
  count: number
  /** One promise for all callers. A list for each caller would take memory with the square of the work in flight. */
  all: Promise<unknown>
}

/** Bars that were sent and are not yet stored, by resolution: one resolution does not wait for the Acks of another. */
export class WorkInFlight {
  readonly #overflow: (bars: number) => void
  readonly #work = new Map<Resolution, Work>()
  #bars = 0

  constructor(overflow: (bars: number) => void) {
    this.#overflow = overflow
  }

  isEmpty(r: Resolution): boolean {
    return this.#of(r).count === 0
  }

  add(r: Resolution, bars: number, work: Promise<unknown>): void {
    const own = this.#of(r)
    own.count += 1
    this.#bars += bars
    // The result is dropped, because it would keep the results of all earlier work.
    const all = Promise.all([own.all, work]).then(() => undefined)
    // Callers of `settled` get the rejection.
    all.catch(() => undefined)
    own.all = all
    const end = (): void => {
      own.count -= 1
      this.#bars -= bars
      if (own.count === 0) own.all = Promise.resolve()
    }
    work.then(end, end)
    if (this.#bars > inFlightBarsMax) this.#overflow(this.#bars)
  }

  /** Resolves once all work of the resolution added so far has succeeded; rejects when any of it fails. */
  async settled(r: Resolution): Promise<void> {
    await this.#of(r).all
  }

  #of(r: Resolution): Work {
    const work = this.#work.get(r) ?? { count: 0, all: Promise.resolve() }
    this.#work.set(r, work)
    return work
  }
}
