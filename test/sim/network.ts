import { Unavailable } from '../../services/core/failure.ts'
import type { Chance } from './chance.ts'
import type { Life, Timeline } from './timeline.ts'

/** What a request to a store or to Redis may meet on its way; answered or not within this time. */
const callTimeoutMs = 2_000
const delayMsMax = 20
const slowDelayMsMax = 1_500
/** Share of the writes that land twice, as those of a process that stood still do, and how late. */
const repeated = 0.1
const repeatedLateMsMax = 60_000

/**
 * The network between processes and the servers they share: every message is delayed by chance, so that
 * those of different processes overtake each other; some are lost, on the way there or on the way back.
 */
export class Network {
  /** Probability that a message is lost. */
  loss = 0
  /** Whether messages may take long. */
  slow = false
  readonly #timeline: Timeline
  readonly #chance: Chance
  readonly #trace: (line: string) => void
  /** Pairs (`a b`, either way) that hear nothing of each other; a name alone is cut off from all. */
  readonly #cut = new Set<string>()

  constructor(timeline: Timeline, chance: Chance, trace: (line: string) => void) {
    this.#timeline = timeline
    this.#chance = chance
    this.#trace = trace
  }

  cut(a: string, b = ''): void {
    this.#cut.add(pair(a, b))
  }

  heal(a: string, b = ''): void {
    this.#cut.delete(pair(a, b))
  }

  healAll(): void {
    this.#cut.clear()
    this.loss = 0
    this.slow = false
  }

  isCut(a: string, b: string): boolean {
    return this.#cut.has(pair(a, b)) || this.#cut.has(pair(a, '')) || this.#cut.has(pair(b, ''))
  }

  delayMs(): number {
    const max = this.slow && this.#chance.is(0.2) ? slowDelayMsMax : delayMsMax
    return this.#chance.next() * max
  }

  /** Whether a message between the two is lost now. */
  loses(a: string, b: string): boolean {
    return this.isCut(a, b) || this.#chance.is(this.loss)
  }

  /**
   * A request and its answer. `run` happens at the server, once or never; whoever asked may learn of it,
   * be told `Unavailable` without knowing, or be dead by then. What `mayRepeat` may land once more, late.
   */
  call<T>(life: Life, server: string, what: string, run: () => T, mayRepeat = false): Promise<T> {
    if (mayRepeat && this.#chance.is(repeated)) this.#repeat(life, server, what, run)
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        this.#timeline.at(callTimeoutMs, () => {
          this.#trace(`${life.name} ${server} ${what} unknown`)
          if (life.alive) reject(new Unavailable(server))
        })
      }
      if (this.loses(life.name, server)) return fail()
      this.#timeline.at(this.delayMs(), () => {
        let outcome: { readonly value: T } | { readonly cause: Error }
        try {
          outcome = { value: run() }
        } catch (cause) {
          outcome = { cause: cause as Error }
        }
        this.#trace(`${life.name} ${server} ${what}`)
        if (this.loses(life.name, server)) return fail()
        this.#timeline.at(this.delayMs(), () => {
          if (!life.alive) return
          if ('value' in outcome) resolve(outcome.value)
          else reject(outcome.cause)
        })
      })
    })
  }

  #repeat(life: Life, server: string, what: string, run: () => unknown): void {
    this.#timeline.at(this.#chance.next() * repeatedLateMsMax, () => {
      if (this.isCut(life.name, server)) return
      this.#trace(`${life.name} ${server} ${what} once more`)
      run()
    })
  }
}

const pair = (a: string, b: string): string => [a, b].sort().join(' ')
