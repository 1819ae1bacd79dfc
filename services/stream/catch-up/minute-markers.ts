import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Connection } from '../connection/connection.ts'
import { messages } from '../connection/protocol.ts'
import { type Frames, textFrame } from '../fan-out/frame.ts'

/** Maximum minutes announced for one event or after one replay; the newest stay. */
const minutesMax = 60

interface MinuteMarkersDeps {
  /** Writes all frames of the fan-out to their sockets: a marker follows its bars. */
  readonly settle: () => void
  /** Whether earlier bars of the feed are still being replayed to the socket. */
  readonly isBusy: (connection: Connection, feed: FeedKey) => boolean
}

/** Sends a frame when all bars of a minute were sent, to sockets that asked for it. */
export class MinuteMarkers {
  readonly #deps: MinuteMarkersDeps
  readonly #listeners = new Map<FeedKey, Set<Connection>>()
  /** The last complete minute of each feed; later events may repeat minutes. */
  readonly #announced = new Map<FeedKey, FeedSeconds>()
  /** Minutes that are announced when a replay ends. */
  readonly #queued = new Map<Connection, Map<FeedKey, FeedSeconds[]>>()

  constructor(deps: MinuteMarkersDeps) {
    this.#deps = deps
  }

  listen(connection: Connection, feed: FeedKey): void {
    const listeners = this.#listeners.get(feed) ?? new Set()
    this.#listeners.set(feed, listeners.add(connection))
  }

  /** The socket has no symbol of the feed any more, or wants no more markers. */
  leave(connection: Connection, feed: FeedKey): void {
    const listeners = this.#listeners.get(feed)
    listeners?.delete(connection)
    if (listeners?.size === 0) this.#listeners.delete(feed)
    this.#queued.get(connection)?.delete(feed)
  }

  forget(connection: Connection): void {
    for (const feed of this.feedsOf(connection)) this.leave(connection, feed)
    this.#queued.delete(connection)
  }

  feedsOf(connection: Connection): FeedKey[] {
    return [...this.#listeners].flatMap(([feed, listeners]) => (listeners.has(connection) ? [feed] : []))
  }

  /** `from` and `to` are the open times of the first and the last complete minute. */
  complete(feed: FeedKey, from: FeedSeconds, to: FeedSeconds): void {
    const announced = this.#announced.get(feed) ?? feedSeconds(-1)
    if (to <= announced) return
    this.#announced.set(feed, to)
    const listeners = this.#listeners.get(feed)
    if (!listeners) return
    this.#deps.settle()
    const times = minutes(from, to).filter((time) => time > announced)
    const frames = framesOf(feed, times)
    for (const connection of listeners) {
      if (this.#deps.isBusy(connection, feed)) this.#queue(connection, feed, times)
      else connection.write(frames)
    }
  }

  /** The feed returned to the registry. Its clock may be earlier than before. */
  feedReturned(feed: FeedKey): void {
    this.#announced.delete(feed)
  }

  /** A replay of the feed ended. */
  replayed(connection: Connection, feed: FeedKey): void {
    const times = this.#queued.get(connection)?.get(feed)
    if (!times) return
    this.#queued.get(connection)?.delete(feed)
    connection.write(framesOf(feed, times))
  }

  #queue(connection: Connection, feed: FeedKey, times: readonly FeedSeconds[]): void {
    const queued = this.#queued.get(connection) ?? new Map<FeedKey, FeedSeconds[]>()
    this.#queued.set(connection, queued)
    queued.set(feed, [...(queued.get(feed) ?? []), ...times].slice(-minutesMax))
  }
}

function minutes(from: FeedSeconds, to: FeedSeconds): FeedSeconds[] {
  const count = Math.min(minutesMax, Math.floor((to - from) / 60) + 1)
  return Array.from({ length: count }, (_, i) => feedSeconds(to - (count - 1 - i) * 60))
}

const framesOf = (feed: FeedKey, times: readonly FeedSeconds[]): Frames =>
  times.map((time) => textFrame(messages.minute(feed, time))).join('')
