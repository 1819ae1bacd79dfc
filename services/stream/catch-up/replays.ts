import type { History } from '../../bars/history.ts'
import { toList } from '../../core/bars/bar.ts'
import { barTimeMax } from '../../core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Reader } from '../../core/fair-queue.ts'
import { TurnTime } from '../../platform/turn-time.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import { nameGaps } from '../connection/name-gaps.ts'
import type { SymbolGap } from '../connection/protocol.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'
import type { LiveFeed } from '../live/live-feed.ts'
import type { LiveSymbol } from '../live/live-symbol.ts'
import type { replayGapReasons, StreamMetrics } from '../metrics.ts'
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

/** A symbol that was just subscribed to; its live bars are deferred until its bars after `after` were sent. */
export interface Resumed {
  readonly feed: LiveFeed
  readonly live: LiveSymbol
  readonly after: FeedSeconds
}

/** Why a client gets a GAP frame instead of its bars. */
type ReplayGapReason = (typeof replayGapReasons)[number] | 'returned'

export interface ReplayDeps {
  readonly clock: Clock
  readonly history: Pick<History, 'range'>
  readonly subscriptions: Subscriptions
  readonly fanOut: Pick<FanOut, 'settle'>
  readonly metrics: Pick<StreamMetrics, 'gaps' | 'replayGaps'>
}

interface Replay extends Resumed {
  readonly begunMs: number
  /** Open time of the last bar sent. */
  last: FeedSeconds
  sent: number
  /** Mark of `RecentBars`, from before the last read of the store. */
  mark: number | undefined
  failures: number
  /** `LiveSymbol.returns` at the request. */
  readonly returns: number
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
  readonly #waiting = new Map<Connection, Map<LiveSymbol, Replay>>()
  /** Sockets with replays that neither read nor pause now. */
  readonly #queue = new ReplayQueue()
  /** Symbols whose next live bar a socket waited for: `LiveSymbol.waiting` says whether it still does. */
  readonly #caughtUp = new Map<Connection, Set<LiveSymbol>>()
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
    let caughtUp = 0
    for (const [connection, symbols] of this.#caughtUp)
      for (const { waiting } of symbols) if (waiting.has(connection)) caughtUp += 1
    return { waiting: this.#count, caughtUp }
  }

  /** Bars that were promised to the socket and not sent yet. */
  unsentGaps(connection: Connection): readonly SymbolGap[] {
    return [...(this.#waiting.get(connection)?.values() ?? [])]
      .filter(({ live }) => this.#isDeferred(connection, live))
      .map(({ live, last }) => ({ symbol: live.symbol, after: last }))
  }

  begin(connection: Connection, list: readonly Resumed[]): void {
    const waiting = this.#waiting.get(connection) ?? new Map<LiveSymbol, Replay>()
    if (!this.#waiting.has(connection)) {
      this.#waiting.set(connection, waiting)
      this.#queue.push(connection)
    }
    const begunMs = this.#deps.clock.monotonicMs()
    for (const resumed of list) {
      const { feed, live } = resumed
      live.waiting.delete(connection)
      feed.markers.replaying(connection)
      if (!waiting.delete(live)) this.#count += 1
      const replay = {
        ...resumed,
        begunMs,
        last: resumed.after,
        sent: 0,
        mark: undefined,
        failures: 0,
        returns: live.returns,
      }
      waiting.set(live, replay)
      if (this.#count > replaysMax) this.#endWithGap(connection, replay, 'too_many_replays')
    }
    this.#pump()
  }

  /** The socket left; another socket may get its row. */
  forget(connection: Connection): void {
    this.#count -= this.#waiting.get(connection)?.size ?? 0
    this.#waiting.delete(connection)
    for (const { waiting } of this.#caughtUp.get(connection) ?? []) waiting.delete(connection)
    this.#caughtUp.delete(connection)
  }

  /** Must be called after subscriptions of the socket ended. */
  review(connection: Connection): void {
    for (const live of this.#caughtUp.get(connection) ?? [])
      if (!this.#isDeferred(connection, live)) live.waiting.delete(connection)
    for (const replay of this.#waiting.get(connection)?.values() ?? [])
      if (!this.#isDeferred(connection, replay.live)) this.#end(connection, replay)
  }

  close(): void {
    this.#closed = true
    this.#stop()
    this.#waiting.clear()
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
      const next = waiting.values().find(({ feed }) => !feed.isFilling)
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
    const { clock } = this.#deps
    const { feed, live } = replay
    while (this.#isWanted(connection, replay)) {
      if (live.returns !== replay.returns) {
        this.#endWithGap(connection, replay, 'returned')
        break
      }
      if (feed.isFilling) return () => clock.sleep(holePauseMs)
      if (connection.isFull) return () => connection.writable()
      const isRead = replay.mark !== undefined && live.recent.coversSince(replay.mark)
      if (isRead && (feed.isUnconfirmed || lacksLastBar(replay)))
        this.#nameGap(connection, replay, 'unproven')
      if (isRead || live.recent.covers(replay.last)) {
        this.#join(connection, replay)
        return undefined
      }
      const { mark } = live.recent
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
    const { feed, live } = replay
    const series = { feed: feed.key, symbol: live.symbol, resolution: '1' } as const
    const from = feedSeconds(replay.last + 1)
    const reader = this.#readerOf(connection, replay)
    for await (const bars of this.#deps.history.range(series, from, barTimeMax, reader)) {
      const list = toList(bars)
      for (let start = 0; start < list.length; start += framesPerWrite) {
        if (connection.isFull) return false
        if (!this.#isWanted(connection, replay) || live.returns !== replay.returns) return true
        const some = list.slice(start, start + framesPerWrite)
        connection.write(some.map((bar) => live.frame(bar)).join(''))
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
    const { live } = replay
    this.#deps.fanOut.settle()
    const bars = live.recent.after(replay.last)
    if (bars.length > 0) connection.write(bars.map((bar) => live.frame(bar)).join(''))
    this.#enter(connection, live, bars.at(-1)?.time ?? replay.last)
    this.#end(connection, replay)
  }

  /** Lets live bars follow, after the last bar that the socket has. */
  #enter(connection: Connection, live: LiveSymbol, last: FeedSeconds): void {
    // The last write may have closed this socket as too slow; then another socket may get its row.
    if (!this.#isDeferred(connection, live)) return
    if (live.lastTime !== undefined && live.lastTime >= last)
      return this.#deps.subscriptions.release(connection.row, live.id)
    live.waiting.set(connection, last)
    const caughtUp = this.#caughtUp.get(connection) ?? new Set()
    this.#caughtUp.set(connection, caughtUp.add(live))
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
      this.#enter(connection, replay.live, replay.last)
    }
    this.#end(connection, replay)
  }

  #nameGap(connection: Connection, { live, last }: Replay, reason: ReplayGapReason): void {
    const { fanOut, metrics } = this.#deps
    fanOut.settle()
    if (reason !== 'returned') metrics.replayGaps.inc({ reason })
    nameGaps(
      connection,
      [{ symbol: live.symbol, after: last }],
      reason === 'returned' ? reason : 'replay',
      metrics,
    )
  }

  #end(connection: Connection, replay: Replay): void {
    const waiting = this.#waiting.get(connection)
    if (waiting?.get(replay.live) !== replay) return
    waiting.delete(replay.live)
    this.#count -= 1
    if (!waiting.values().some(({ feed }) => feed === replay.feed)) replay.feed.markers.replayed(connection)
  }

  /** The symbol may have been unsubscribed, and subscribed again, meanwhile. */
  #isWanted(connection: Connection, replay: Replay): boolean {
    return (
      this.#waiting.get(connection)?.get(replay.live) === replay && this.#isDeferred(connection, replay.live)
    )
  }

  #isDeferred(connection: Connection, { id }: LiveSymbol): boolean {
    return connection.open && this.#deps.subscriptions.isDeferred(connection.row, id)
  }
}

/** Whether a live bar was pushed that neither the store nor memory shows: its write may still be retried. */
function lacksLastBar({ live, last }: Replay): boolean {
  const shown = live.recent.after(last).at(-1)?.time ?? last
  return (live.lastTime ?? shown) > shown
}
