import { RejectedTimes } from '../../../collector/sources/mt5-csv/export/rejected-times.ts'

export interface Refusal {
  /** Counted from 1. */
  readonly line: number
  readonly reason: string
}

/** Maximum refusals kept for the report; further ones are only counted. */
const refusalsKept = 1_000

/** Lines that were not stored, in the order of the file: the first ones, and a count of all. */
export class Refusals {
  readonly times: RejectedTimes
  #count = 0
  readonly #first: Refusal[] = []

  constructor(deps: ConstructorParameters<typeof RejectedTimes>[0]) {
    this.times = new RejectedTimes(deps)
  }

  get count(): number {
    return this.#count
  }

  get first(): readonly Refusal[] {
    return this.#first
  }

  /** Lines arrive nearly in order: refusals of the service arrive later than those of the local check. */
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
