import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Connection } from '../connection/connection.ts'
import { messages } from '../connection/protocol.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import { type Frames, textFrame } from '../fan-out/frame.ts'

/** Maximum minutes that are announced together, after one event, a replay or a hole; the newest stay. */
const minutesMax = 60

/** Open times of the first and the last complete minute. */
export interface Minutes {
  readonly from: FeedSeconds
  readonly to: FeedSeconds
}

/** Sends a frame when all bars of a minute of the feed were sent, to sockets that asked for it. */
export class MinuteMarkers {
  readonly #feed: FeedKey
  readonly #fanOut: Pick<FanOut, 'flush'>
  readonly #listeners = new Set<Connection>()
  /** Sockets to which earlier bars of the feed are still being replayed, with the minutes to announce afterwards. */
  readonly #replaying = new Map<Connection, readonly FeedSeconds[]>()
  /** Minutes to announce once lost bars were delivered. */
  #held: readonly FeedSeconds[] = []
  /** The last minute that was announced; later events may repeat minutes. */
  #announced = none

  constructor(feed: FeedKey, fanOut: Pick<FanOut, 'flush'>) {
    this.#feed = feed
    this.#fanOut = fanOut
  }

  listen(connection: Connection, isWanted: boolean): void {
    if (isWanted) return void this.#listeners.add(connection)
    this.#listeners.delete(connection)
    if (this.#replaying.has(connection)) this.#replaying.set(connection, [])
  }

  forget(connection: Connection): void {
    this.#listeners.delete(connection)
    this.#replaying.delete(connection)
  }

  has(connection: Connection): boolean {
    return this.#listeners.has(connection)
  }

  complete(minutes: Minutes): void {
    this.#announce(timesOf(minutes))
  }

  /** Minutes that are complete while lost bars are being read. */
  hold(minutes: Minutes): void {
    const newest = this.#held.at(-1) ?? none
    this.#held = [...this.#held, ...timesOf(minutes).filter((time) => time > newest)].slice(-minutesMax)
  }

  /** The lost bars were delivered or, if `isWhole` is false, named. */
  release(isWhole: boolean): void {
    const held = this.#held
    this.#held = []
    if (isWhole) this.#announce(held)
  }

  replaying(connection: Connection): void {
    if (!this.#replaying.has(connection)) this.#replaying.set(connection, [])
  }

  /** No replay of the feed is left. */
  replayed(connection: Connection): void {
    const times = this.#replaying.get(connection) ?? []
    this.#replaying.delete(connection)
    if (times.length > 0) connection.write(this.#frames(times))
  }

  /** The feed was purged: its next minutes may be earlier than the last ones. */
  restart(): void {
    this.#announced = none
  }

  #announce(all: readonly FeedSeconds[]): void {
    const times = all.filter((time) => time > this.#announced)
    this.#announced = times.at(-1) ?? this.#announced
    if (times.length === 0 || this.#listeners.size === 0) return
    this.#fanOut.flush()
    const frames = this.#frames(times)
    for (const connection of this.#listeners) {
      const queued = this.#replaying.get(connection)
      if (queued) this.#replaying.set(connection, [...queued, ...times].slice(-minutesMax))
      else connection.write(frames)
    }
  }

  #frames(times: readonly FeedSeconds[]): Frames {
    return times.map((time) => textFrame(messages.minute(this.#feed, time))).join('')
  }
}

const none = feedSeconds(-1)

function timesOf({ from, to }: Minutes): FeedSeconds[] {
  const count = Math.min(minutesMax, Math.floor((to - from) / 60) + 1)
  return Array.from({ length: count }, (_, i) => feedSeconds(to - (count - 1 - i) * 60))
}
