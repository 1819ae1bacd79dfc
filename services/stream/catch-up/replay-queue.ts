import type { Connection } from '../connection/connection.ts'
import type { Replay } from './replay.ts'

/** Maximum replays that read at once: half of the read connections to QuestDB, so that REST in `fxd all` has the others. */
const readsAtOnce = 8
/** Maximum replays of one key that read at once; other keys have the rest. */
const readsOfKeyMax = 4

/** Sockets whose replays wait. A `FairQueue` would not limit how many reads of a key run at once. */
export class ReplayQueue {
  readonly reading = new Set<Replay>()
  readonly #waiting: Connection[] = []

  push(connection: Connection): void {
    this.#waiting.push(connection)
  }

  /** Removes and returns the first socket whose key is below its maximum. */
  next(): Connection | undefined {
    if (this.reading.size >= readsAtOnce) return undefined
    const ofKeys = Map.groupBy(this.reading, ({ key }) => key)
    const at = this.#waiting.findIndex(({ key }) => (ofKeys.get(key.id)?.length ?? 0) < readsOfKeyMax)
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]
  }

  /** Puts a socket that `next` returned in front of all others. */
  putBack(connection: Connection): void {
    this.#waiting.unshift(connection)
  }
}
