import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'

/** Maximum time for a refused client to read its answer and to end its side; then the connection is cut. */
export const lingerMs = 500
/** Maximum refused connections that wait; with more the oldest is cut. */
export const refusedMax = 1_000

/** Refused connections whose clients have not ended yet. They do not count as pending upgrades. */
export class RefusedUpgrades {
  readonly #clock: Clock
  /** The oldest first. */
  readonly #sockets = new Set<Duplex>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(socket: Duplex): void {
    if (this.#sockets.size >= refusedMax) this.#cutFirst()
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
