import type { Log } from '../../platform/log/log.ts'
import type { OpenSockets } from './open-sockets.ts'

/** Maximum bytes queued for all clients of a process; with more, the sockets with most of them are cut. */
export const allBacklogBytesMax = 268_435_456

/** Bounds the memory of a process when thousands of clients stop reading at once, as behind a broken network. */
export class BacklogLimit {
  readonly #sockets: Pick<OpenSockets, 'unsent'>
  readonly #log: Log
  readonly #bytesMax: number
  /** Bytes queued since all backlogs were added up. */
  #queuedBytes = 0

  constructor(sockets: Pick<OpenSockets, 'unsent'>, log: Log, bytesMax: number) {
    this.#sockets = sockets
    this.#log = log
    this.#bytesMax = bytesMax
  }

  /** Must be called after a write that the system did not accept whole. */
  queued(bytes: number): void {
    this.#queuedBytes += bytes
    // The sum over 20,000 sockets takes a millisecond, so it is not calculated after every write.
    if (this.#queuedBytes < this.#bytesMax / 8) return
    this.#queuedBytes = 0
    this.#check()
  }

  #check(): void {
    const unsent = this.#sockets.unsent()
    const total = unsent.reduce((sum, { backlogBytes }) => sum + backlogBytes, 0)
    if (total <= this.#bytesMax) return
    unsent.sort((a, b) => b.backlogBytes - a.backlogBytes)
    let [left, cut] = [total, 0]
    for (const connection of unsent) {
      if (left <= this.#bytesMax / 2) break
      left -= connection.backlogBytes
      cut += 1
      connection.cut()
    }
    this.#log.warn(
      { bytes: total, max: this.#bytesMax, cut },
      'too many bytes queued for slow clients; sockets with the most bytes were cut',
    )
  }
}
