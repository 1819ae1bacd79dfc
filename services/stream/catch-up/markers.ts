import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { type Frames, textFrame } from '../fan-out/frame.ts'
import type { Connection } from '../sockets/connection.ts'
import { messages } from '../sockets/protocol.ts'

/** Minutes of one event, or that wait for a replay, that are told at most; the newest. */
const minutesMax = 60

interface Parts {
  /** Finishes what is on its way to sockets: a marker comes after its bars. */
  readonly settle: () => void
  /** Whether the socket still waits for earlier bars of the feed. */
  readonly isBusy: (connection: Connection, feed: FeedKey) => boolean
}

/** Tells those who asked for it that all bars of a minute were sent. */
export class Markers {
  readonly #parts: Parts
  readonly #listeners = new Map<FeedKey, Set<Connection>>()
  /** The last minute told of each feed: windows may overlap. */
  readonly #told = new Map<FeedKey, FeedSeconds>()
  /** Minutes to be told when a replay ends. */
  readonly #waiting = new Map<Connection, Map<FeedKey, FeedSeconds[]>>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  listen(connection: Connection, feed: FeedKey): void {
    const listeners = this.#listeners.get(feed) ?? new Set()
    this.#listeners.set(feed, listeners.add(connection))
  }

  /** The socket has no symbol of the feed any more. */
  leave(connection: Connection, feed: FeedKey): void {
    const listeners = this.#listeners.get(feed)
    listeners?.delete(connection)
    if (listeners?.size === 0) this.#listeners.delete(feed)
    this.#waiting.get(connection)?.delete(feed)
  }

  forget(connection: Connection): void {
    for (const feed of this.feedsOf(connection)) this.leave(connection, feed)
    this.#waiting.delete(connection)
  }

  feedsOf(connection: Connection): FeedKey[] {
    return [...this.#listeners].flatMap(([feed, listeners]) => (listeners.has(connection) ? [feed] : []))
  }

  /** Open times of the first and the last complete minute. */
  complete(feed: FeedKey, from: FeedSeconds, to: FeedSeconds): void {
    const told = this.#told.get(feed) ?? feedSeconds(-1)
    if (to <= told) return
    this.#told.set(feed, to)
    const listeners = this.#listeners.get(feed)
    if (!listeners) return
    this.#parts.settle()
    const times = minutes(from, to).filter((time) => time > told)
    const frames = framesOf(feed, times)
    for (const connection of listeners) {
      if (this.#parts.isBusy(connection, feed)) this.#wait(connection, feed, times)
      else connection.write(frames)
    }
  }

  /** A replay of the feed ended. */
  replayed(connection: Connection, feed: FeedKey): void {
    const times = this.#waiting.get(connection)?.get(feed)
    if (!times) return
    this.#waiting.get(connection)?.delete(feed)
    connection.write(framesOf(feed, times))
  }

  #wait(connection: Connection, feed: FeedKey, times: readonly FeedSeconds[]): void {
    const waiting = this.#waiting.get(connection) ?? new Map<FeedKey, FeedSeconds[]>()
    this.#waiting.set(connection, waiting)
    waiting.set(feed, [...(waiting.get(feed) ?? []), ...times].slice(-minutesMax))
  }
}

function minutes(from: FeedSeconds, to: FeedSeconds): FeedSeconds[] {
  const count = Math.min(minutesMax, Math.floor((to - from) / 60) + 1)
  return Array.from({ length: count }, (_, i) => feedSeconds(to - (count - 1 - i) * 60))
}

const framesOf = (feed: FeedKey, times: readonly FeedSeconds[]): Frames =>
  times.map((time) => textFrame(messages.minute(feed, time))).join('')
