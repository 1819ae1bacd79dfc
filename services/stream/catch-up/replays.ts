import { TurnTime } from '../../platform/turn-time.ts'
import type { Cancel } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import { nameGaps } from '../connection/name-gaps.ts'
import type { SymbolGap } from '../connection/protocol.ts'
import type { SharedDeps } from '../deps.ts'
import type { LiveSymbol } from '../live/live-symbol.ts'
import type { replayGapReasons } from '../metrics.ts'
import { Replay, type Resumed } from './replay.ts'
import { ReplayQueue } from './replay-queue.ts'

/** Maximum queued replays of all sockets and symbols; for further ones a GAP frame names the bars. */
const replaysMax = 200_000
/** Maximum time in a turn of the event loop after which no further replay begins. */
const turnMs = 5
/** Maximum duration of a replay since the request; then a GAP frame names the rest, and live bars follow. */
export const replayMsMax = 120_000
const overdueEveryMs = 1_000

/** Poll interval while a hole of the bus is open; then replays of its feed continue. */
const holePauseMs = 100
/** Pause before a failed read is retried; other replays read meanwhile. An unavailable store must not be overloaded. */
const readPauseMs = 1_000
/** Maximum failed reads of one replay; then a GAP frame names the rest, which the client can read from history later. */
const readAttempts = 3

type ReplayGapReason = (typeof replayGapReasons)[number] | 'returned'

type ReplayDeps = Pick<SharedDeps, 'clock' | 'history' | 'subscriptions' | 'fanOut' | 'metrics'>

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
  readonly #bySocket = new Map<Connection, Map<LiveSymbol, Replay>>()
  /** The same replays: those of a symbol may share a read. */
  readonly #bySymbol = new Map<LiveSymbol, Set<Replay>>()
  /** Sockets with replays that neither read nor pause now. */
  readonly #queue = new ReplayQueue()
  /** Symbols whose next live bar a socket waited for: `LiveSymbol.waiting` says whether it still does. */
  readonly #waitingForNextBar = new Map<Connection, Set<LiveSymbol>>()
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
  get counts(): { readonly waiting: number; readonly waitingForNextBar: number } {
    let waitingForNextBar = 0
    for (const [connection, symbols] of this.#waitingForNextBar)
      for (const { waiting } of symbols) if (waiting.has(connection)) waitingForNextBar += 1
    return { waiting: this.#count, waitingForNextBar }
  }

  /** Bars that were promised to the socket and not sent yet. */
  unsentGaps(connection: Connection): readonly SymbolGap[] {
    return [...(this.#bySocket.get(connection)?.values() ?? [])]
      .filter(({ isDeferred }) => isDeferred)
      .map(({ live, last }) => ({ symbol: live.symbol, after: last }))
  }

  begin(connection: Connection, list: readonly Resumed[]): void {
    const waiting = this.#bySocket.get(connection) ?? new Map<LiveSymbol, Replay>()
    if (!this.#bySocket.has(connection)) {
      this.#bySocket.set(connection, waiting)
      this.#queue.push(connection)
    }
    const { clock, subscriptions } = this.#deps
    const nowMs = clock.monotonicMs()
    for (const resumed of list) {
      const replay = new Replay(connection, resumed, subscriptions, nowMs)
      const { feed, live } = replay
      live.waiting.delete(connection)
      feed.markers.replaying(connection)
      const before = waiting.get(live)
      if (before) before.isEnded = true
      else this.#count += 1
      // The newest is the last one.
      waiting.delete(live)
      waiting.set(live, replay)
      if (before) this.#leaveSymbol(before)
      this.#bySymbol.set(live, (this.#bySymbol.get(live) ?? new Set()).add(replay))
      if (this.#count > replaysMax) this.#endWithGap(replay, 'too_many_replays')
    }
    this.#pump()
  }

  /** The socket left; another socket may get its row. */
  forget(connection: Connection): void {
    this.#count -= this.#bySocket.get(connection)?.size ?? 0
    for (const replay of this.#bySocket.get(connection)?.values() ?? []) {
      replay.isEnded = true
      this.#leaveSymbol(replay)
    }
    this.#bySocket.delete(connection)
    for (const { waiting } of this.#waitingForNextBar.get(connection) ?? []) waiting.delete(connection)
    this.#waitingForNextBar.delete(connection)
  }

  /** Must be called after subscriptions of the socket ended. */
  review(connection: Connection): void {
    for (const live of this.#waitingForNextBar.get(connection) ?? [])
      if (!this.#deps.subscriptions.isDeferred(connection.row, live.id)) live.waiting.delete(connection)
    for (const replay of this.#bySocket.get(connection)?.values() ?? [])
      if (!replay.isDeferred) this.#end(replay)
  }

  close(): void {
    this.#closed = true
    this.#stop()
    this.#bySocket.clear()
  }

  #pump(): void {
    while (!this.#closed) {
      const connection = this.#queue.next()
      if (!connection) return
      // Asked only when a replay can begin, because each question causes another look in the next turn.
      if (!this.#turn.isLeft(turnMs, this.#deps.clock.monotonicMs())) return this.#queue.putBack(connection)
      const waiting = this.#bySocket.get(connection)
      if (!waiting || waiting.size === 0) {
        this.#bySocket.delete(connection)
        continue
      }
      const next = waiting.values().find(({ feed }) => !feed.isFilling)
      if (next) this.#begin(next)
      else this.#pause(connection, () => this.#deps.clock.sleep(holePauseMs))
    }
  }

  #begin(replay: Replay): void {
    const { connection } = replay
    this.#queue.reading.add(replay)
    void this.#proceed(replay)
      .catch((cause: unknown): undefined => {
        connection.fail(cause)
      })
      .then((pause) => {
        this.#queue.reading.delete(replay)
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
  async #proceed(replay: Replay): Promise<Pause | undefined> {
    const { clock, history, fanOut } = this.#deps
    const { connection, feed, live } = replay
    while (!replay.isGone) {
      if (replay.obstacle) {
        this.#endWithGap(replay, replay.obstacle)
        break
      }
      if (feed.isFilling) return () => clock.sleep(holePauseMs)
      if (connection.isFull) return () => connection.writable()
      if (replay.isRead && replay.isUnproven) this.#nameGap(replay, 'unproven')
      if (replay.isRead || live.recent.covers(replay.last)) {
        // In one turn of the event loop, so that no live bar is between them.
        fanOut.flush()
        replay.sendRecent()
        this.#follow(replay)
        break
      }
      try {
        const others = [...(this.#bySymbol.get(live) ?? [])]
        if (!(await replay.send(history, others))) return () => connection.writable()
      } catch {
        // A read without a waiting client is dropped, which is no failure.
        if (replay.isGone) break
        replay.failures += 1
        if (replay.failures < readAttempts) return () => clock.sleep(readPauseMs)
        this.#endWithGap(replay, 'failed')
      }
    }
    this.#end(replay)
    return undefined
  }

  /** Lets live bars follow, after the last bar that the socket has. */
  #follow({ connection, live, last, isDeferred }: Replay): void {
    // The last write may have closed this socket as too slow; then another socket may get its row.
    if (!isDeferred) return
    if (live.lastTime !== undefined && live.lastTime >= last)
      return this.#deps.subscriptions.release(connection.row, live.id)
    live.waiting.set(connection, last)
    const waitingForNextBar = this.#waitingForNextBar.get(connection) ?? new Set()
    this.#waitingForNextBar.set(connection, waitingForNextBar.add(live))
  }

  #endOverdue(): void {
    const begunMs = this.#deps.clock.monotonicMs() - replayMsMax
    for (const waiting of this.#bySocket.values())
      for (const replay of waiting.values()) {
        // They are in the order of their requests, so all later ones began later.
        if (replay.sinceMs > begunMs) break
        this.#endWithGap(replay, 'late')
      }
  }

  #endWithGap(replay: Replay, why: ReplayGapReason): void {
    if (!replay.isGone) {
      this.#nameGap(replay, why)
      this.#follow(replay)
    }
    this.#end(replay)
  }

  #nameGap({ connection, live, last }: Replay, reason: ReplayGapReason): void {
    const { fanOut, metrics } = this.#deps
    fanOut.flush()
    if (reason !== 'returned') metrics.replayGaps.inc({ reason })
    nameGaps(
      connection,
      [{ symbol: live.symbol, after: last }],
      reason === 'returned' ? reason : 'replay',
      metrics,
    )
  }

  #end(replay: Replay): void {
    if (replay.isEnded) return
    const { connection, live, feed } = replay
    const waiting = this.#bySocket.get(connection)
    replay.isEnded = true
    waiting?.delete(live)
    this.#leaveSymbol(replay)
    this.#count -= 1
    if (!waiting?.values().some((other) => other.feed === feed)) feed.markers.replayed(connection)
  }

  #leaveSymbol(replay: Replay): void {
    const replays = this.#bySymbol.get(replay.live)
    replays?.delete(replay)
    if (replays?.size === 0) this.#bySymbol.delete(replay.live)
  }
}
