/** Maximum unacknowledged bars of one kind; above it ingest is assumed to be stuck, and the session ends. */
const inFlightBarsMax = 200_000

/** Bars that were sent and are not yet stored. */
export class WorkInFlight {
  readonly #overflow: (bars: number) => void
  #count = 0
  #bars = 0
  #all: Promise<unknown> = Promise.resolve()

  /** `overflow` is called for work above the bound. */
  constructor(overflow: (bars: number) => void) {
    this.#overflow = overflow
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  add(work: Promise<unknown>, bars: number): void {
    this.#count += 1
    this.#bars += bars
    // One promise for all callers. A list for each caller would take memory with the square of the work in flight.
    // The result is dropped, because it would keep the results of all earlier work.
    const all = Promise.all([this.#all, work]).then(() => undefined)
    // Callers of `settled` get the rejection.
    all.catch(() => undefined)
    this.#all = all
    const end = (): void => {
      this.#count -= 1
      this.#bars -= bars
      if (this.isEmpty) this.#all = Promise.resolve()
    }
    work.then(end, end)
    if (this.#bars > inFlightBarsMax) this.#overflow(this.#bars)
  }

  /** Resolves once all work added so far has succeeded; rejects when any of it fails. */
  async settled(): Promise<void> {
    await this.#all
  }
}
