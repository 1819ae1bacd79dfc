import { toList } from '../../core/bars/bar.ts'
import { barTimeMax } from '../../core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Reader } from '../../core/turns.ts'
import type { Cancel } from '../../ports/clock.ts'
import type { Connection } from '../sockets/connection.ts'
import type { SymbolGap } from '../sockets/protocol.ts'
import { CaughtUp } from './caught-up.ts'
import type { ReplayDeps, ReplayGapReason, Resumed } from './replay-deps.ts'
import { ReplayQueue } from './replay-queue.ts'

/** Symbols of all sockets that wait for their replay; beyond, a GAP frame names what a replay would have brought. */
const replaysMax = 200_000
const framesPerWrite = 500
/** From being asked for; what takes longer is named in a GAP frame, and the symbol joins the live lane. */
export const replayMsMax = 120_000
const overdueEveryMs = 1_000
/** Two days of minutes: `since` reaches back one, unless nobody knows what time it is at the feed. */
const replayBarsMax = 2 * 1_440
/** A socket that takes no more for so long gives its place among the readers to another. */
const roomMs = 250
/** So often it is looked whether a hole of the bus is closed, so that replays of its feed go on. */
const holePauseMs = 100
/** A read that failed is tried again after this, and others read meanwhile; a store that is away must not be hammered. */
const readPauseMs = 1_000
/** Reads of one replay that failed; then the gap is named, and the client may read history by itself once the store answers. */
const readAttempts = 3

interface Replay extends Resumed {
  readonly begunMs: number
  /** Open time of the last bar sent. */
  last: FeedSeconds
  sent: number
  /** Of `Recent`, from before the last read of the store. */
  mark: number | undefined
  failures: number
}

/** What is waited for until a socket's replays go on. */
type Pause = () => Promise<unknown>

/**
 * Sends the bars that a client missed, then lets it join the live lane, each bar once and in order. The
 * symbol is held (`Subscriptions.addDeferred`) meanwhile; its live bars are remembered by `Recent`. A store that
 * is ahead of the bus is waited for: the socket joins with the first bar later than all it was sent.
 * Few read at once; who has to wait, for its client, the store or a hole of the bus, keeps none of the others.
 */
export class Replays {
  readonly #deps: ReplayDeps
  /** What waits or is under way, in the order of asking. */
  readonly #waiting = new Map<Connection, Map<number, Replay>>()
  /** Sockets with replays that are neither read for nor paused now. */
  readonly #queue = new ReplayQueue()
  readonly #caught = new CaughtUp()
  readonly #stop: Cancel
  #count = 0
  #closed = false

  constructor(deps: ReplayDeps) {
    this.#deps = deps
    this.#stop = deps.clock.every(overdueEveryMs, () => this.#giveUpOverdue())
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

  /** What the socket was promised and not sent yet. */
  unsentGaps(connection: Connection): readonly SymbolGap[] {
    return [...(this.#waiting.get(connection)?.values() ?? [])]
      .filter(({ id }) => this.#isHeld(connection, id))
      .map(({ symbol, last }) => ({ symbol, after: last }))
  }

  begin(connection: Connection, list: readonly Resumed[]): void {
    const waiting = this.#waiting.get(connection) ?? new Map<number, Replay>()
    if (!this.#waiting.has(connection)) {
      this.#waiting.set(connection, waiting)
      this.#queue.push(connection)
    }
    const begunMs = this.#deps.clock.monotonicMs()
    for (const resumed of list) {
      this.#caught.delete(connection, resumed.id)
      if (!waiting.delete(resumed.id)) this.#count += 1
      const replay = { ...resumed, begunMs, last: resumed.after, sent: 0, mark: undefined, failures: 0 }
      waiting.set(resumed.id, replay)
      if (this.#count > replaysMax) this.#giveUp(connection, replay, 'too_many_replays')
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
    for (const replay of this.#waiting.get(connection)?.values() ?? [])
      if (!this.#isHeld(connection, replay.id)) this.#end(connection, replay)
  }

  /** Before a live bar of the symbol is pushed: those who wait for one as late as this join in. */
  arriving(id: number, time: FeedSeconds): void {
    if (!this.#caught.has(id)) return
    if (this.#deps.isInFanOut(id)) this.#deps.settle()
    for (const [connection, last] of this.#caught.of(id)) {
      if (time <= last) continue
      this.#caught.delete(connection, id)
      this.#deps.subscriptions.release(connection.row, id)
    }
  }

  close(): void {
    this.#closed = true
    this.#stop()
    this.#waiting.clear()
    this.#caught.clear()
  }

  #pump(): void {
    while (!this.#closed) {
      const connection = this.#queue.next()
      if (!connection) return
      const waiting = this.#waiting.get(connection)
      if (!waiting || waiting.size === 0) {
        this.#waiting.delete(connection)
        continue
      }
      const next = waiting.values().find(({ feed }) => !this.#deps.isFilling(feed))
      if (next) this.#begin(connection, next)
      else this.#pause(connection, () => this.#deps.clock.sleep(holePauseMs))
    }
  }

  #begin(connection: Connection, replay: Replay): void {
    const leave = this.#queue.enter(connection)
    const failed = (cause: unknown): undefined => {
      connection.fail(cause)
    }
    void this.#turn(connection, replay)
      .catch(failed)
      .then((pause) => {
        leave()
        // One symbol at a time, so that nobody waits for all symbols of another.
        if (pause) this.#pause(connection, pause)
        else this.#queue.push(connection)
        this.#pump()
      })
  }

  #pause(connection: Connection, pause: Pause): void {
    void pause().then(() => {
      this.#queue.push(connection)
      this.#pump()
    })
  }

  /** Until the symbol joined, was given up, or has to wait. */
  async #turn(connection: Connection, replay: Replay): Promise<Pause | undefined> {
    const { clock, recent, isFilling, isUnconfirmed } = this.#deps
    const { id, feed } = replay
    while (this.#isWanted(connection, replay)) {
      if (isFilling(feed)) return () => clock.sleep(holePauseMs)
      const isRead = replay.mark !== undefined && recent.coversSince(id, replay.mark)
      if (isRead && isUnconfirmed(feed)) this.#nameGap(connection, replay, 'unproven')
      if (isRead || recent.covers(id, replay.last)) {
        this.#join(connection, replay)
        return undefined
      }
      const mark = recent.mark(id)
      try {
        if (!(await this.#send(connection, replay))) return () => connection.room()
        replay.mark = mark
      } catch {
        // A read that nobody waits for any more is dropped, which is no failure.
        if (!this.#isWanted(connection, replay)) break
        replay.failures += 1
        if (replay.failures < readAttempts) return () => clock.sleep(readPauseMs)
        this.#giveUp(connection, replay, 'failed')
      }
    }
    this.#end(connection, replay)
    return undefined
  }

  /** Sends what the store and its tail have later than what was sent. False: the socket takes no more for now. */
  async #send(connection: Connection, replay: Replay): Promise<boolean> {
    const { feed, symbol, id } = replay
    const series = { feed, symbol, resolution: '1' } as const
    const from = feedSeconds(replay.last + 1)
    const reader = this.#readerOf(connection, replay)
    for await (const bars of this.#deps.history.range(series, from, barTimeMax, reader)) {
      const list = toList(bars)
      for (let start = 0; start < list.length; start += framesPerWrite) {
        if (!(await this.#hasRoom(connection))) return false
        if (!this.#isWanted(connection, replay)) return true
        const some = list.slice(start, start + framesPerWrite)
        connection.write(some.map((bar) => this.#deps.frame(id, bar)).join(''))
        replay.last = some.at(-1)?.time ?? replay.last
        replay.sent += some.length
        if (replay.sent > replayBarsMax) this.#giveUp(connection, replay, 'too_many_bars')
      }
    }
    return true
  }

  /** As the store knows it: beside REST requests of the same key. */
  #readerOf(connection: Connection, replay: Replay): Reader {
    const isWanted = (): boolean => this.#isWanted(connection, replay)
    return {
      key: connection.key.id,
      sinceMs: replay.begunMs,
      get isGone() {
        return !isWanted()
      },
    }
  }

  async #hasRoom(connection: Connection): Promise<boolean> {
    if (connection.isFull) await Promise.race([connection.room(), this.#deps.clock.sleep(roomMs)])
    return !connection.isFull
  }

  /** In one turn of the loop: what the lane brought meanwhile, then the lane itself. */
  #join(connection: Connection, replay: Replay): void {
    const { settle, recent, frame } = this.#deps
    const { id } = replay
    settle()
    const bars = recent.after(id, replay.last)
    if (bars.length > 0) connection.write(bars.map((bar) => frame(id, bar)).join(''))
    this.#enter(connection, id, bars.at(-1)?.time ?? replay.last)
    this.#end(connection, replay)
  }

  /** Into the live lane, behind the last bar that the socket has. */
  #enter(connection: Connection, id: number, last: FeedSeconds): void {
    // What was just sent may have closed it as too slow: its row may be another's soon.
    if (!this.#isHeld(connection, id)) return
    const lane = this.#deps.lastTime(id)
    if (lane !== undefined && lane >= last) this.#deps.subscriptions.release(connection.row, id)
    else this.#caught.set(connection, id, last)
  }

  #giveUpOverdue(): void {
    const begunMs = this.#deps.clock.monotonicMs() - replayMsMax
    for (const [connection, waiting] of this.#waiting)
      for (const replay of waiting.values()) {
        // In the order of asking.
        if (replay.begunMs > begunMs) break
        this.#giveUp(connection, replay, 'late')
      }
  }

  #giveUp(connection: Connection, replay: Replay, why: ReplayGapReason): void {
    if (this.#isWanted(connection, replay)) {
      this.#nameGap(connection, replay, why)
      this.#enter(connection, replay.id, replay.last)
    }
    this.#end(connection, replay)
  }

  #nameGap(connection: Connection, { symbol, last }: Replay, why: ReplayGapReason): void {
    this.#deps.settle()
    this.#deps.nameGap(connection, symbol, last, why)
  }

  #end(connection: Connection, replay: Replay): void {
    const waiting = this.#waiting.get(connection)
    if (waiting?.get(replay.id) !== replay) return
    waiting.delete(replay.id)
    this.#count -= 1
    if (!this.isBusy(connection, replay.feed)) this.#deps.ended(connection, replay.feed)
  }

  /** It may have been unsubscribed, and subscribed anew, meanwhile. */
  #isWanted(connection: Connection, replay: Replay): boolean {
    return this.#waiting.get(connection)?.get(replay.id) === replay && this.#isHeld(connection, replay.id)
  }

  #isHeld(connection: Connection, id: number): boolean {
    return connection.open && this.#deps.subscriptions.isDeferred(connection.row, id)
  }
}
