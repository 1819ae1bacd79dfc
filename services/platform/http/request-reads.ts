import type { Socket } from 'node:net'
import type { Clock } from '../../ports/clock.ts'
import { afterTurns } from '../after-turns.ts'

/** Maximum requests that are read in one turn of the event loop, besides those of packets that were read already. */
export const readPerTurnMax = 64
/** Maximum paused connections that are read again in one turn. */
const resumedPerTurn = 32

/**
 * Limits the requests that are read in one turn of the event loop. Above the limit, connections without a request are
 * paused, and read again in later turns. Otherwise Node reads thousands of connections in one turn, if their requests
 * arrive together. Those that asked before are first: a client with an open connection need not wait for new ones.
 */
export class RequestReads {
  readonly #clock: Clock
  readonly #idle: () => Iterable<Socket>
  readonly #paused = { known: new Set<Socket>(), fresh: new Set<Socket>() }
  #read = 0
  #isResuming = false

  /** `idle` returns the connections without a request under way. */
  constructor(clock: Clock, idle: () => Iterable<Socket>) {
    this.#clock = clock
    this.#idle = idle
  }

  /** Must be called for each request that was read. */
  arrived(): void {
    if (this.#read === 0) this.#clock.soon(() => (this.#read = 0))
    this.#read += 1
    if (this.#read !== readPerTurnMax) return
    for (const socket of this.#idle()) {
      if (socket.isPaused()) continue
      socket.pause()
      this.#paused[socket.bytesRead > 0 ? 'known' : 'fresh'].add(socket)
    }
    if (this.#isResuming) return
    this.#isResuming = true
    this.#clock.soon(() => this.#resume())
  }

  #resume(): void {
    let left = resumedPerTurn
    for (const paused of [this.#paused.known, this.#paused.fresh]) {
      for (const socket of paused) {
        if (left-- <= 0) return afterTurns(this.#clock, () => this.#resume())
        paused.delete(socket)
        socket.resume()
      }
    }
    this.#isResuming = false
  }
}
