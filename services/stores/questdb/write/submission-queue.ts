import type { Lane } from '../../../core/bars/series.ts'
import type { Piece, Submission } from './submission.ts'

/** Rows that wait or are being written, per lane; a caller beyond that waits outside, until its deadline. */
export const rowsPerLane = 100_000
/** Rows that wait outside, per lane: a caller beyond that fails at once, and its collector comes again later. */
export const rowsOutsideMax = 300_000
/** Rows of one request: a live bar never waits for more than the one under way. */
const rowsPerRequest = 20_000

const lanes: readonly Lane[] = ['live', 'backfill']

/** Who waits outside and what waits inside: live before backfill, both bounded in rows, each in the order of coming. */
export class SubmissionQueue {
  readonly #outside: Record<Lane, Set<Submission>> = { live: new Set(), backfill: new Set() }
  readonly #inside: Record<Lane, Set<Submission>> = { live: new Set(), backfill: new Set() }
  readonly #rowsInside: Record<Lane, number> = { live: 0, backfill: 0 }
  readonly #rowsOutside: Record<Lane, number> = { live: 0, backfill: 0 }
  readonly #pieces: Record<Lane, Piece[]> = { live: [], backfill: [] }

  enter(submission: Submission): void {
    const { lane, rows } = submission
    const waiting = this.#rowsOutside[lane]
    // Something larger than the bound waits alone.
    if (waiting > 0 && waiting + rows > rowsOutsideMax) {
      const full = `${this.rows(lane)} rows of the ${lane} lane wait already: try again later`
      return submission.settle(new Error(full))
    }
    this.#outside[lane].add(submission)
    this.#rowsOutside[lane] += rows
    this.#admit(lane)
  }

  /** Call it when a submission is settled, wherever it was. */
  leave(submission: Submission): void {
    const { lane, rows } = submission
    if (this.#outside[lane].delete(submission)) this.#rowsOutside[lane] -= rows
    if (this.#inside[lane].delete(submission)) this.#rowsInside[lane] -= rows
    this.#admit(lane)
  }

  /** The next request's pieces; none when nothing waits. What was given up meanwhile is left out. */
  take(): readonly Piece[] {
    for (const lane of lanes) {
      const taken: Piece[] = []
      let rows = 0
      for (let next = this.#pieces[lane][0]; next !== undefined; next = this.#pieces[lane][0]) {
        const count = next.rows.ends.length
        if (!next.submission.settled && rows > 0 && rows + count > rowsPerRequest) break
        this.#pieces[lane].shift()
        if (next.submission.settled) continue
        taken.push(next)
        rows += count
      }
      if (taken.length > 0) return taken
    }
    return []
  }

  /** Puts pieces of a request that failed in front again. */
  putBack(pieces: readonly Piece[]): void {
    for (const lane of lanes)
      this.#pieces[lane].unshift(...pieces.filter(({ submission }) => submission.lane === lane))
  }

  get waits(): boolean {
    return lanes.some((lane) => this.#pieces[lane].length > 0)
  }

  all(): readonly Submission[] {
    return lanes.flatMap((lane) => [...this.#inside[lane], ...this.#outside[lane]])
  }

  /** Rows that wait outside or inside, or are being written. */
  rows(lane: Lane): number {
    return this.#rowsInside[lane] + this.#rowsOutside[lane]
  }

  #admit(lane: Lane): void {
    for (const submission of this.#outside[lane]) {
      // Something larger than the bound gets in alone.
      if (this.#rowsInside[lane] > 0 && this.#rowsInside[lane] + submission.rows > rowsPerLane) return
      this.#outside[lane].delete(submission)
      this.#rowsOutside[lane] -= submission.rows
      this.#inside[lane].add(submission)
      this.#rowsInside[lane] += submission.rows
      for (const rows of submission.pieces) this.#pieces[lane].push({ submission, rows })
    }
  }
}
