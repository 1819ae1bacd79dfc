import type { Connection } from '../connection/connection.ts'

/** Maximum replays that read at once: half of the read connections to QuestDB, so that REST in `fxd all` has the others. */
const readsAtOnce = 8
/** Maximum replays of one key that read at once; other keys have the rest. */
const readsOfKeyMax = 4

/** Queue of sockets with replays, and the count of replays that read, by key. */
export class ReplayQueue {
  readonly #waiting: Connection[] = []
  /** Replays that read now, by key. */
  readonly #reading = new Map<string, number>()

  push(connection: Connection): void {
    this.#waiting.push(connection)
  }

  /** Removes and returns the first socket whose key is below its maximum. */
  next(): Connection | undefined {
    const underWay = this.#reading.values().reduce((sum, count) => sum + count, 0)
    if (underWay >= readsAtOnce) return undefined
    const at = this.#waiting.findIndex(({ key }) => (this.#reading.get(key.id) ?? 0) < readsOfKeyMax)
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]
  }

  /** Puts a socket that `next` returned in front of all others. */
  putBack(connection: Connection): void {
    this.#waiting.unshift(connection)
  }

  /** Counts a replay of the socket until the returned function is called. */
  enter(connection: Connection): () => void {
    const key = connection.key.id
    this.#add(key, 1)
    return () => this.#add(key, -1)
  }

  #add(key: string, by: 1 | -1): void {
    const count = (this.#reading.get(key) ?? 0) + by
    if (count > 0) this.#reading.set(key, count)
    else this.#reading.delete(key)
  }
}
