export interface Refusal {
  /** Counted from 1. */
  readonly line: number
  readonly reason: string
}

/** So many are kept to be told; the others are only counted. */
const refusalsKept = 1_000

/** Lines that were not stored and why, in the order of the file: the first ones and a count of all. */
export class Refusals {
  #count = 0
  readonly #first: Refusal[] = []

  get count(): number {
    return this.#count
  }

  get first(): readonly Refusal[] {
    return this.#first
  }

  /** Lines come nearly in order: what the service refuses comes later than what a look at the line shows. */
  add(line: number, reason: string): void {
    this.#count++
    const first = this.#first
    if (first.length === refusalsKept && line > (first[refusalsKept - 1] as Refusal).line) return
    let at = first.length
    while (at > 0 && (first[at - 1] as Refusal).line > line) at--
    first.splice(at, 0, { line, reason })
    if (first.length > refusalsKept) first.pop()
  }
}
