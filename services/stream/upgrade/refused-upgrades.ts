import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'

/** Maximum time for a refused client to read its answer and to end its side; then the connection is cut. */
export const lingerMs = 500

/** Refused connections whose clients have not ended yet. They do not count as pending upgrades. */
export class RefusedUpgrades {
  readonly #clock: Clock
  readonly #max: number
  /** The oldest first. */
  readonly #sockets = new Set<Duplex>()

  /** With more than `max` the oldest is cut. */
  constructor(clock: Clock, max: number) {
    this.#clock = clock
    this.#max = max
  }

  add(socket: Duplex): void {
    if (this.#sockets.size >= this.#max) this.#cutFirst()
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
