import type { RawSeriesId } from '../series/series-id.ts'

/** Share of the symbols of a feed whose history may be read again in a day; one symbol always may. */
const readAgainShare = 0.05

/**
 * Which series were compared today, and which symbols are to be read again. Lives as long as the collector. Above 5 % of
 * the symbols in a day it is held: nothing is compared or read again until a new backfill.
 */
export class Readjustments {
  readonly #compared = new Map<RawSeriesId, number>()
  readonly #pending = new Set<string>()
  #day = 0
  #ofDay = 0
  #backfillVersion: number | undefined
  /** Symbols that were re-adjusted, since the start. */
  symbols = 0
  isHeld = false

  /** Whether the series is to be compared on this day: once, and not while held. */
  isDue(id: RawSeriesId, day: number): boolean {
    return !this.isHeld && this.#compared.get(id) !== day
  }

  compared(id: RawSeriesId, day: number): void {
    this.#compared.set(id, day)
  }

  /** `count`: of the feed's symbols. Returns what follows; `held` only once. */
  note(raw: string, day: number, count: number): 'readAgain' | 'held' | 'nothing' {
    if (this.isHeld || this.#pending.has(raw)) return 'nothing'
    if (day !== this.#day) this.#ofDay = 0
    this.#day = day
    this.#ofDay += 1
    this.symbols += 1
    this.isHeld = this.#ofDay > Math.max(1, Math.floor(count * readAgainShare))
    if (this.isHeld) this.#pending.clear()
    else this.#pending.add(raw)
    return this.isHeld ? 'held' : 'readAgain'
  }

  /** The symbol to read again now, one at a time; it stays until `done`. */
  get next(): string | undefined {
    const [raw] = this.#pending
    return raw
  }

  done(raw: string): void {
    this.#pending.delete(raw)
  }

  /** `version` of the newest `fxd backfill`, as a session begins: a new one releases what is held. */
  welcomed(version: number): void {
    if (this.#backfillVersion !== undefined && version > this.#backfillVersion) {
      this.isHeld = false
      this.#ofDay = 0
    }
    this.#backfillVersion = Math.max(this.#backfillVersion ?? 0, version)
  }
}
