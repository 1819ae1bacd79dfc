import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'

/** A refused client has so long to take its answer and to end its side; then the connection is cut. */
export const lingerMs = 500
/** Beyond so many the one that was refused first is cut. */
export const lingeringMax = 1_000

/** Refused connections on their way out. They wait apart, so that nobody waits behind them. */
export class Lingering {
  readonly #clock: Clock
  /** In the order of their refusal. */
  readonly #sockets = new Set<Duplex>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(socket: Duplex): void {
    if (this.#sockets.size >= lingeringMax) this.#cutFirst()
    this.#sockets.add(socket)
    const cancel = this.#clock.after(lingerMs, () => socket.destroy())
    socket.once('close', () => {
      cancel()
      this.#sockets.delete(socket)
    })
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #cutFirst(): void {
    const [first] = this.#sockets.values().take(1)
    if (!first) return
    this.#sockets.delete(first)
    first.destroy()
  }
}
