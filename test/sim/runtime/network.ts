import { Unavailable } from '../../../services/core/failure.ts'
import type { Chance } from './chance.ts'
import type { SimProcess, Timeline } from './timeline.ts'

/** Timeout of a call to the store or to Redis. */
const callTimeoutMs = 2_000
const delayMsMax = 20
const slowDelayMsMax = 1_500
/** Probability of a write that is applied twice, as after a freeze of its process. */
const repeated = 0.1
/** Maximum delay of the second time. */
const repeatedLateMsMax = 60_000

/**
 * The network between processes and the servers that they share. Every message has a random delay, so messages of
 * different processes overtake each other. Requests and answers can be lost.
 */
export class Network {
  /** Probability that a message is lost. */
  loss = 0
  /** Whether some messages are slow. */
  slow = false
  readonly #timeline: Timeline
  readonly #chance: Chance
  readonly #trace: (line: string) => void
  /** Pairs (`a b`, in either order) that cannot reach each other; a single name is cut off from all. */
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

  /** Whether a message between the two is lost; draws a random number. */
  loses(a: string, b: string): boolean {
    return this.isCut(a, b) || this.#chance.is(this.loss)
  }

  /**
   * Calls a server. `run` is executed there once or never. The caller gets the outcome, or `Unavailable` with an
   * unknown outcome, or has ended by then. With `mayRepeat` the call may be executed a second time, later.
   */
  call<T>(process: SimProcess, server: string, what: string, run: () => T, mayRepeat = false): Promise<T> {
    if (mayRepeat && this.#chance.is(repeated)) this.#repeat(process, server, what, run)
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        this.#timeline.at(callTimeoutMs, () => {
          this.#trace(`${process.name} ${server} ${what} unknown`)
          if (process.alive) reject(new Unavailable(server))
        })
      }
      if (this.loses(process.name, server)) return fail()
      this.#timeline.at(this.delayMs(), () => {
        let outcome: { readonly value: T } | { readonly cause: Error }
        try {
          outcome = { value: run() }
        } catch (cause) {
          outcome = { cause: cause as Error }
        }
        this.#trace(`${process.name} ${server} ${what}`)
        if (this.loses(process.name, server)) return fail()
        this.#timeline.at(this.delayMs(), () => {
          if (!process.alive) return
          if ('value' in outcome) resolve(outcome.value)
          else reject(outcome.cause)
        })
      })
    })
  }

  #repeat(process: SimProcess, server: string, what: string, run: () => unknown): void {
    this.#timeline.at(this.#chance.next() * repeatedLateMsMax, () => {
      if (this.isCut(process.name, server)) return
      this.#trace(`${process.name} ${server} ${what} once more`)
      run()
    })
  }
}

const pair = (a: string, b: string): string => [a, b].sort().join(' ')
