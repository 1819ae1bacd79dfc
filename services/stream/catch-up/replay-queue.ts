import type { Connection } from '../sockets/connection.ts'

/** In `fxd all` half of the connections for reading QuestDB: REST finds others. */
const readsAtOnce = 8
/** Of these, what one key's sockets have: others find a place whatever the key asks for. */
const readsOfKeyMax = 4

/** Sockets whose turn to be read for may have come, and how many are being read for. */
export class ReplayQueue {
  readonly #waiting: Connection[] = []
  /** Replays under way by key. */
  readonly #reading = new Map<string, number>()

  push(connection: Connection): void {
    this.#waiting.push(connection)
  }

  /** The first for whose key there is a place; it waits no more. */
  next(): Connection | undefined {
    const underWay = this.#reading.values().reduce((sum, count) => sum + count, 0)
    if (underWay >= readsAtOnce) return undefined
    const at = this.#waiting.findIndex(({ key }) => (this.#reading.get(key.id) ?? 0) < readsOfKeyMax)
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]
  }

  /** The socket is being read for until the returned function is called. */
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
