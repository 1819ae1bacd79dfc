import { Refusal } from './refusal.ts'

/** Maximum posts of one session in a second. */
const postsPerSecondMax = 25
const secondMs = 1_000

/** Counts the posts of one session, or the hellos of one feed. */
export class PostRate {
  #sinceMs = Number.NEGATIVE_INFINITY
  #posts = 0

  /** Throws a `Refusal` above the maximum. */
  count(nowMs: number): void {
    if (nowMs - this.#sinceMs >= secondMs) {
      this.#sinceMs = nowMs
      this.#posts = 0
    }
    this.#posts += 1
    if (this.#posts > postsPerSecondMax)
      throw new Refusal('TOO_MANY', `More than ${postsPerSecondMax} posts in a second; wait a second.`, 1)
  }
}
