import type { History } from '../../bars/history.ts'
import { type Bar, toList } from '../../core/bar.ts'
import type { CompoundKey, FeedKey } from '../../core/compound-key.ts'
import { type FeedSeconds, feedSeconds } from '../../core/feed-clock.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Connection } from '../connection.ts'
import type { Frames } from '../fan-out/frame.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'
import { Caught } from './caught.ts'
import type { Recent } from './recent.ts'

const readsAtOnce = 8
/** Symbols of all sockets that wait for their replay; beyond, a GAP frame names what a replay would have brought. */
const replaysMax = 200_000
const framesPerWrite = 500
const holePauseMs = 100
const readPauseMs = 1_000
const readAttempts = 3
const endOfTime = feedSeconds(2 ** 37)

/** A symbol that was just subscribed to, held back until its bars after this time were sent. */
export interface Resumed {
  readonly id: number
  readonly symbol: CompoundKey
  readonly feed: FeedKey
  readonly after: FeedSeconds
}

export interface ReplayParts {
  readonly clock: Clock
  readonly history: Pick<History, 'range'>
  readonly subscriptions: Subscriptions
  readonly recent: Recent
  /** Whether the store may show in a moment what the bus lost, or it is on its way to all subscribers. */
  readonly isFilling: (feed: FeedKey) => boolean
  /** Whether the bus lost bars of the feed that the store may not show yet. */
  readonly isUnproven: (feed: FeedKey) => boolean
  /** Open time of the symbol's last bar on the live lane. */
  readonly lastTime: (id: number) => FeedSeconds | undefined
  /** Whether a bar of the symbol is on its way to sockets. */
  readonly isOnItsWay: (id: number) => boolean
  /** Finishes what is on its way to sockets. */
  readonly settle: () => void
  readonly frame: (id: number, bar: Bar) => Frames
  /** The socket's bars of the symbol may be missing from there on. */
  readonly nameGap: (connection: Connection, symbol: CompoundKey, after: FeedSeconds) => void
  /** A replay of the feed ended: all its bars were sent, or a gap was named. */
  readonly ended: (connection: Connection, feed: FeedKey) => void
}

/**
 * Sends the bars that a client missed, then lets it join the live lane, each bar once and in order. The
 * symbol is held (`Subscriptions.hold`) meanwhile; its live bars are remembered by `Recent`. A store that
 * is ahead of the bus is waited for: the socket joins with the first bar later than all it was sent.
 */
export class Replays {
  readonly #parts: ReplayParts
  /** What waits or is under way, in the order of asking. */
  readonly #waiting = new Map<Connection, Map<number, Resumed>>()
  readonly #queue: Connection[] = []
  readonly #caught = new Caught()
  #count = 0
  #reading = 0
  #closed = false

  constructor(parts: ReplayParts) {
    this.#parts = parts
  }

  /** Symbols of sockets: those that wait or are under way, and those sent everything there is. */
  get counts(): { readonly waiting: number; readonly caught: number } {
    return { waiting: this.#count, caught: this.#caught.count }
  }

  isBusy(connection: Connection, feed: FeedKey): boolean {
    const waiting = this.#waiting.get(connection)
    if (!waiting) return false
    for (const resumed of waiting.values()) if (resumed.feed === feed) return true
    return false
  }

  begin(connection: Connection, list: readonly Resumed[]): void {
    const waiting = this.#waiting.get(connection) ?? new Map<number, Resumed>()
    if (!this.#waiting.has(connection)) {
      this.#waiting.set(connection, waiting)
      this.#queue.push(connection)
    }
    for (const resumed of list) {
      this.#caught.delete(connection, resumed.id)
      if (!waiting.has(resumed.id)) this.#count += 1
      waiting.set(resumed.id, resumed)
      if (this.#count > replaysMax) this.#giveUp(connection, resumed, resumed.after)
    }
    this.#pump()
  }

  /** The socket left: its row may be another's soon. */
  forget(connection: Connection): void {
    this.#count -= this.#waiting.get(connection)?.size ?? 0
    this.#waiting.delete(connection)
    for (const id of this.#caught.idsOf(connection)) this.#caught.delete(connection, id)
  }

  /** Some of its subscriptions ended. */
  review(connection: Connection): void {
    for (const id of this.#caught.idsOf(connection))
      if (!this.#isHeld(connection, id)) this.#caught.delete(connection, id)
    for (const resumed of this.#waiting.get(connection)?.values() ?? [])
      if (!this.#isHeld(connection, resumed.id)) this.#end(connection, resumed)
  }

  /** Before a live bar of the symbol is pushed: those who wait for one as late as this join in. */
  arriving(id: number, time: FeedSeconds): void {
    if (!this.#caught.has(id)) return
    if (this.#parts.isOnItsWay(id)) this.#parts.settle()
    for (const [connection, last] of this.#caught.of(id)) {
      if (time <= last) continue
      this.#caught.delete(connection, id)
      this.#parts.subscriptions.release(connection.row, id)
    }
  }

  close(): void {
    this.#closed = true
    this.#waiting.clear()
    this.#caught.clear()
  }

  #pump(): void {
    while (this.#reading < readsAtOnce) {
      const connection = this.#queue.shift()
      if (!connection) return
      const waiting = this.#waiting.get(connection)
      const next = waiting?.values().next().value
      if (!next) {
        this.#waiting.delete(connection)
        continue
      }
      this.#reading += 1
      void this.#replay(connection, next).finally(() => {
        this.#reading -= 1
        // One symbol at a time, so that nobody waits for all symbols of another.
        if (this.#waiting.has(connection)) this.#queue.push(connection)
        if (!this.#closed) this.#pump()
      })
    }
  }

  async #replay(connection: Connection, resumed: Resumed): Promise<void> {
    const { clock, recent, isFilling, isUnproven } = this.#parts
    const { id, feed } = resumed
    let last = resumed.after
    let mark: number | undefined
    let failures = 0
    while (this.#isWanted(connection, resumed)) {
      if (isFilling(feed)) {
        await clock.sleep(holePauseMs)
        continue
      }
      if (recent.covers(id, last)) return this.#join(connection, resumed, last)
      if (mark !== undefined && recent.coversSince(id, mark)) {
        if (isUnproven(feed)) this.#parts.nameGap(connection, resumed.symbol, last)
        return this.#join(connection, resumed, last)
      }
      const before = recent.mark(id)
      try {
        last = await this.#send(connection, resumed, last)
        mark = before
      } catch {
        failures += 1
        if (failures === readAttempts) return this.#giveUp(connection, resumed, last)
        await clock.sleep(readPauseMs)
      }
    }
    this.#end(connection, resumed)
  }

  /** Sends what the store and its tail have after this time; gives the time of the last bar sent. */
  async #send(connection: Connection, resumed: Resumed, after: FeedSeconds): Promise<FeedSeconds> {
    const { feed, symbol, id } = resumed
    const series = { feed, symbol, resolution: '1' } as const
    let last = after
    for await (const bars of this.#parts.history.range(series, feedSeconds(after + 1), endOfTime)) {
      const list = toList(bars)
      for (let start = 0; start < list.length; start += framesPerWrite) {
        await connection.room()
        if (!this.#isWanted(connection, resumed)) return last
        const some = list.slice(start, start + framesPerWrite)
        connection.write(some.map((bar) => this.#parts.frame(id, bar)).join(''))
        last = some.at(-1)?.time ?? last
      }
    }
    return last
  }

  /** In one turn of the loop: what the lane brought meanwhile, then the lane itself. */
  #join(connection: Connection, resumed: Resumed, sent: FeedSeconds): void {
    const { settle, recent, frame, subscriptions, lastTime } = this.#parts
    const { id } = resumed
    settle()
    const bars = recent.after(id, sent)
    if (bars.length > 0) connection.write(bars.map((bar) => frame(id, bar)).join(''))
    const last = bars.at(-1)?.time ?? sent
    const lane = lastTime(id)
    if (lane !== undefined && lane >= last) subscriptions.release(connection.row, id)
    else this.#caught.set(connection, id, last)
    this.#end(connection, resumed)
  }

  #giveUp(connection: Connection, resumed: Resumed, after: FeedSeconds): void {
    if (this.#isWanted(connection, resumed)) {
      this.#parts.settle()
      this.#parts.nameGap(connection, resumed.symbol, after)
      this.#parts.subscriptions.release(connection.row, resumed.id)
    }
    this.#end(connection, resumed)
  }

  #end(connection: Connection, resumed: Resumed): void {
    const waiting = this.#waiting.get(connection)
    if (waiting?.get(resumed.id) !== resumed) return
    waiting.delete(resumed.id)
    this.#count -= 1
    if (!this.isBusy(connection, resumed.feed)) this.#parts.ended(connection, resumed.feed)
  }

  /** It may have been unsubscribed, and subscribed anew, meanwhile. */
  #isWanted(connection: Connection, resumed: Resumed): boolean {
    return this.#waiting.get(connection)?.get(resumed.id) === resumed && this.#isHeld(connection, resumed.id)
  }

  #isHeld(connection: Connection, id: number): boolean {
    return connection.open && this.#parts.subscriptions.isHeld(connection.row, id)
  }
}
