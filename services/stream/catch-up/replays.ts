import { toList } from '../../core/bars/bar.ts'
import { barTimeMax } from '../../core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Reader } from '../../core/fair-queue.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { TurnTime } from '../../platform/turn-time.ts'
import type { Cancel } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import type { SymbolGap } from '../connection/protocol.ts'
import type { SymbolId } from '../fan-out/symbol-table.ts'
import { CaughtUp } from './caught-up.ts'
import type { ReplayDeps, ReplayGapReason, Resumed } from './replay-deps.ts'
import { ReplayQueue } from './replay-queue.ts'

/** Maximum queued replays of all sockets and symbols; for further ones a GAP frame names the bars. */
const replaysMax = 200_000
const framesPerWrite = 500
/** Maximum time in a turn of the event loop after which no further replay begins. */
const turnMs = 5
/** Maximum duration of a replay since the request; then a GAP frame names the rest, and live bars follow. */
export const replayMsMax = 120_000
const overdueEveryMs = 1_000
/** Maximum bars of one replay: two days of minutes. `since` reaches back one day, unless the feed's clock is unknown. */
const replayBarsMax = 2 * 1_440

/** Poll interval while a hole of the bus is open; then replays of its feed continue. */
const holePauseMs = 100
/** Pause before a failed read is retried; other replays read meanwhile. An unavailable store must not be overloaded. */
const readPauseMs = 1_000
/** Maximum failed reads of one replay; then a GAP frame names the rest, which the client can read from history later. */
const readAttempts = 3

interface Replay extends Resumed {
  readonly begunMs: number
  /** Open time of the last bar sent. */
  last: FeedSeconds
  sent: number
  /** Mark of `RecentBars`, from before the last read of the store. */
  mark: number | undefined
  failures: number
}

/** Waits until a socket's replays may continue. */
type Pause = () => Promise<unknown>

/**
 * Sends the bars that a client missed, then its live bars follow, each bar once and in order. Meanwhile the
 * symbol is deferred (`Subscriptions.addDeferred`), and `RecentBars` keeps its live bars. If the store is ahead of the
 * bus, the live bars follow with the first one later than all that were sent. Few replays read at once; a replay
 * that waits for its client, the store or a hole of the bus blocks no other.
 */
export class Replays {
  readonly #deps: ReplayDeps
  /** Replays that are queued or running, in the order of the requests. */
  readonly #waiting = new Map<Connection, Map<SymbolId, Replay>>()
  /** Sockets with replays that neither read nor pause now. */
  readonly #queue = new ReplayQueue()
  readonly #caughtUp = new CaughtUp()
  readonly #turn: TurnTime
  readonly #stop: Cancel
  #count = 0
  #closed = false

  constructor(deps: ReplayDeps) {
    this.#deps = deps
    this.#turn = new TurnTime(deps.clock, () => this.#pump())
    this.#stop = deps.clock.every(overdueEveryMs, () => this.#endOverdue())
  }

  /** Counted per socket and symbol: queued or running replays, and replays that wait for the next live bar. */
  get counts(): { readonly waiting: number; readonly caughtUp: number } {
    return { waiting: this.#count, caughtUp: this.#caughtUp.count }
  }

  isBusy(connection: Connection, feed: FeedKey): boolean {
    const waiting = this.#waiting.get(connection)
    if (!waiting) return false
    for (const resumed of waiting.values()) if (resumed.feed === feed) return true
    return false
  }

  /** Bars that were promised to the socket and not sent yet. */
  unsentGaps(connection: Connection): readonly SymbolGap[] {
    return [...(this.#waiting.get(connection)?.values() ?? [])]
      .filter(({ id }) => this.#isDeferred(connection, id))
      .map(({ symbol, last }) => ({ symbol, after: last }))
  }

  begin(connection: Connection, list: readonly Resumed[]): void {
    const waiting = this.#waiting.get(connection) ?? new Map<SymbolId, Replay>()
    if (!this.#waiting.has(connection)) {
      this.#waiting.set(connection, waiting)
      this.#queue.push(connection)
    }
    const begunMs = this.#deps.clock.monotonicMs()
    for (const resumed of list) {
      this.#caughtUp.delete(connection, resumed.id)
      if (!waiting.delete(resumed.id)) this.#count += 1
      const replay = { ...resumed, begunMs, last: resumed.after, sent: 0, mark: undefined, failures: 0 }
      waiting.set(resumed.id, replay)
      if (this.#count > replaysMax) this.#endWithGap(connection, replay, 'too_many_replays')
    }
    this.#pump()
  }

  /** The socket left; another socket may get its row. */
  forget(connection: Connection): void {
    this.#count -= this.#waiting.get(connection)?.size ?? 0
    this.#waiting.delete(connection)
    for (const id of this.#caughtUp.idsOf(connection)) this.#caughtUp.delete(connection, id)
  }

  /** Must be called after subscriptions of the socket ended. */
  review(connection: Connection): void {
    for (const id of this.#caughtUp.idsOf(connection))
      if (!this.#isDeferred(connection, id)) this.#caughtUp.delete(connection, id)
    for (const replay of this.#waiting.get(connection)?.values() ?? [])
      if (!this.#isDeferred(connection, replay.id)) this.#end(connection, replay)
  }

  /** Must be called before a live bar of the symbol is pushed: sockets that wait for it get it. */
  arriving(id: SymbolId, time: FeedSeconds): void {
    if (!this.#caughtUp.has(id)) return
    if (this.#deps.isInFanOut(id)) this.#deps.settle()
    for (const [connection, last] of this.#caughtUp.of(id)) {
      if (time <= last) continue
      this.#caughtUp.delete(connection, id)
      this.#deps.subscriptions.release(connection.row, id)
    }
  }

  close(): void {
    this.#closed = true
    this.#stop()
    this.#waiting.clear()
    this.#caughtUp.clear()
  }

  #pump(): void {
    while (!this.#closed) {
      const connection = this.#queue.next()
      if (!connection) return
      // Asked only when a replay can begin, because each question causes another look in the next turn.
      if (!this.#turn.isLeft(turnMs, this.#deps.clock.monotonicMs())) return this.#queue.putBack(connection)
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
    void this.#proceed(connection, replay)
      .catch(failed)
      .then((pause) => {
        leave()
        // One symbol at a time, so that no socket waits for all symbols of another.
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

  /** Runs until the symbol's live bars follow, the replay was ended, or it has to wait. Returns what to wait for. */
  async #proceed(connection: Connection, replay: Replay): Promise<Pause | undefined> {
    const { clock, recent, isFilling, isUnconfirmed } = this.#deps
    const { id, feed } = replay
    while (this.#isWanted(connection, replay)) {
      if (isFilling(feed)) return () => clock.sleep(holePauseMs)
      if (connection.isFull) return () => connection.writable()
      const isRead = replay.mark !== undefined && recent.coversSince(id, replay.mark)
      if (isRead && (isUnconfirmed(feed) || this.#lacksLastBar(replay)))
        this.#nameGap(connection, replay, 'unproven')
      if (isRead || recent.covers(id, replay.last)) {
        this.#join(connection, replay)
        return undefined
      }
      const mark = recent.mark(id)
      try {
        if (!(await this.#send(connection, replay))) return () => connection.writable()
        replay.mark = mark
      } catch {
        // A read without a waiting client is dropped, which is no failure.
        if (!this.#isWanted(connection, replay)) break
        replay.failures += 1
        if (replay.failures < readAttempts) return () => clock.sleep(readPauseMs)
        this.#endWithGap(connection, replay, 'failed')
      }
    }
    this.#end(connection, replay)
    return undefined
  }

  /** Sends the later bars of the store and its tail. Returns false if the socket accepts no more at present. */
  async #send(connection: Connection, replay: Replay): Promise<boolean> {
    const { feed, symbol, id } = replay
    const series = { feed, symbol, resolution: '1' } as const
    const from = feedSeconds(replay.last + 1)
    const reader = this.#readerOf(connection, replay)
    for await (const bars of this.#deps.history.range(series, from, barTimeMax, reader)) {
      const list = toList(bars)
      for (let start = 0; start < list.length; start += framesPerWrite) {
        if (connection.isFull) return false
        if (!this.#isWanted(connection, replay)) return true
        const some = list.slice(start, start + framesPerWrite)
        connection.write(some.map((bar) => this.#deps.frame(id, bar)).join(''))
        replay.last = some.at(-1)?.time ?? replay.last
        replay.sent += some.length
        if (replay.sent > replayBarsMax) this.#endWithGap(connection, replay, 'too_many_bars')
      }
    }
    return true
  }

  /** The reader for the store: shares its key's turns with REST requests. */
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

  /** In one turn of the event loop: sends the live bars that arrived meanwhile, then subscribes to the next ones. */
  #join(connection: Connection, replay: Replay): void {
    const { settle, recent, frame } = this.#deps
    const { id } = replay
    settle()
    const bars = recent.after(id, replay.last)
    if (bars.length > 0) connection.write(bars.map((bar) => frame(id, bar)).join(''))
    this.#enter(connection, id, bars.at(-1)?.time ?? replay.last)
    this.#end(connection, replay)
  }

  /** Lets live bars follow, after the last bar that the socket has. */
  #enter(connection: Connection, id: SymbolId, last: FeedSeconds): void {
    // The last write may have closed this socket as too slow; then another socket may get its row.
    if (!this.#isDeferred(connection, id)) return
    const live = this.#deps.lastTime(id)
    if (live !== undefined && live >= last) this.#deps.subscriptions.release(connection.row, id)
    else this.#caughtUp.set(connection, id, last)
  }

  /** Whether a live bar was pushed that neither the store nor memory shows: its write may still be retried. */
  #lacksLastBar({ id, last }: Replay): boolean {
    const { recent, lastTime } = this.#deps
    const shown = recent.after(id, last).at(-1)?.time ?? last
    return (lastTime(id) ?? shown) > shown
  }

  #endOverdue(): void {
    const begunMs = this.#deps.clock.monotonicMs() - replayMsMax
    for (const [connection, waiting] of this.#waiting)
      for (const replay of waiting.values()) {
        // They are in the order of their requests, so all later ones began later.
        if (replay.begunMs > begunMs) break
        this.#endWithGap(connection, replay, 'late')
      }
  }

  #endWithGap(connection: Connection, replay: Replay, why: ReplayGapReason): void {
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

  /** The symbol may have been unsubscribed, and subscribed again, meanwhile. */
  #isWanted(connection: Connection, replay: Replay): boolean {
    return this.#waiting.get(connection)?.get(replay.id) === replay && this.#isDeferred(connection, replay.id)
  }

  #isDeferred(connection: Connection, id: SymbolId): boolean {
    return connection.open && this.#deps.subscriptions.isDeferred(connection.row, id)
  }
}
