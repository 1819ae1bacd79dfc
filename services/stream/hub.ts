import type { Duplex } from 'node:stream'
import type { History } from '../bars/history.ts'
import { toSeconds } from '../core/clocks/feed-clock.ts'
import type { RegistryView } from '../core/feeds/registry.ts'
import type { Log } from '../platform/log/log.ts'
import type { BarStore } from '../ports/bars.ts'
import type { Bus } from '../ports/bus.ts'
import type { Cancel, Clock } from '../ports/clock.ts'
import type { FeedBoard } from '../ports/feed-board.ts'
import type { FollowedRegistry } from '../registry/follow.ts'
import { Resumption } from './catch-up/resumption.ts'
import { FanOut } from './fan-out/fan-out.ts'
import type { Subscriptions } from './fan-out/subscriptions.ts'
import type { OnFault } from './faults.ts'
import { LiveDelivery } from './live/live-delivery.ts'
import { nameGaps } from './live/name-gaps.ts'
import type { StreamMetrics } from './metrics.ts'
import { Answers } from './sockets/answers.ts'
import { closeLabel, closings } from './sockets/close-codes.ts'
import { type Caller, Connection, type ConnectionDeps, type StreamSocket } from './sockets/connection.ts'
import { createListeners } from './sockets/listeners.ts'
import { messages } from './sockets/protocol.ts'
import { reviewKey, type Verdict } from './sockets/review-key.ts'
import type { Sessions } from './sockets/sessions.ts'
import { Throttle } from './sockets/throttle.ts'
import { Withdrawals } from './sockets/withdrawals.ts'

/** A client that sends neither a message nor a ping for so long is closed with 4000. */
const idleTimeoutMs = 60_000
export const messageBytesMax = 65_536
const sweepMs = 1_000
/** A sweep that comes later than this was held up, and with it the reading of sockets. */
const sweepLateMs = 2 * sweepMs
/** A client that does not answer the close of a drain is cut after this. */
const drainTimeoutMs = 3_000

export interface HubDeps {
  readonly clock: Clock
  readonly log: Log
  readonly registry: FollowedRegistry
  readonly bus: Bus
  readonly bars: Pick<BarStore, 'read' | 'lastTimes'>
  readonly board: FeedBoard
  readonly history: Pick<History, 'range'>
  readonly sessions: Sessions
  readonly subscriptions: Subscriptions
  readonly metrics: StreamMetrics
  readonly onFault: OnFault
  /** One socket fewer is open. */
  readonly onLeave: () => void
}

/** All open sockets: who is there, what they hear, and when they must go. */
export class Hub {
  readonly #deps: HubDeps
  readonly #host: ConnectionDeps
  readonly #fanOut: FanOut
  readonly #delivery: LiveDelivery
  readonly #resumption: Resumption
  readonly #withdrawals: Withdrawals
  readonly #answers: Answers
  readonly #throttle: Throttle
  readonly #listen: (socket: StreamSocket) => void
  /** Open connections by their row. */
  readonly #byRow: (Connection | undefined)[] = []
  readonly #open = new Set<Connection>()
  /** Sockets not yet gone, those that are closing included. */
  readonly #sockets = new Set<StreamSocket>()
  readonly #stops: Cancel[]
  #onEmpty: (() => void) | undefined
  #sweptAt: number
  #skipped = false

  constructor(deps: HubDeps) {
    this.#deps = deps
    const { clock, registry, subscriptions, metrics } = deps
    this.#host = {
      now: () => clock.monotonicMs(),
      after: (delayMs, run) => clock.after(delayMs, run),
      leave: (connection) => this.#leave(connection),
      sayLast: (connection) => this.#sayLast(connection),
      closed: (code) => metrics.closes.inc({ code: closeLabel(code) }),
      keyAllowance: (keyId) => this.#throttle.entered(keyId),
      failed: ({ sessionId }, cause) => deps.onFault('socket', cause, sessionId),
    }
    this.#fanOut = new FanOut(
      clock,
      subscriptions.matrix,
      (row, frames) => this.#byRow[row]?.write(frames),
      (ms) => metrics.burst.observe(ms / 1000),
    )
    this.#resumption = new Resumption({
      ...deps,
      fanOut: this.#fanOut,
      isFilling: (feed) => this.#delivery.isFilling(feed),
      isUnproven: (feed) => this.#delivery.isUnproven(feed),
      lastTime: (id) => this.#delivery.lastTime(id),
      frame: (id, bar) => this.#delivery.frame(id, bar),
    })
    this.#delivery = new LiveDelivery({
      ...deps,
      fanOut: this.#fanOut,
      resumption: this.#resumption,
      nameGaps: (row, gaps) => {
        const connection = this.#byRow[row]
        if (connection) nameGaps(connection, gaps, metrics)
      },
    })
    const shared = { ...deps, fanOut: this.#fanOut, resumption: this.#resumption }
    this.#withdrawals = new Withdrawals({ ...shared, gapOf: (id) => this.#delivery.gapOf(id) })
    this.#answers = new Answers({ ...shared, withdrawals: this.#withdrawals })
    this.#throttle = new Throttle(
      clock,
      (connection, text) => this.#answers.answer(connection, text),
      () => metrics.throttled.inc(),
    )
    this.#listen = createListeners(this.#throttle, (socket) => this.#gone(socket))
    deps.sessions.onLapse((sessionIds) => void this.#reopenSlots(new Set(sessionIds)))
    this.#sweptAt = clock.monotonicMs()
    this.#stops = [
      registry.onChange((view) => this.#onRegistry(view)),
      clock.every(sweepMs, () => this.#sweep()),
    ]
  }

  get connections(): number {
    return this.#open.size
  }

  get replays(): Resumption['replays'] {
    return this.#resumption.replays
  }

  get backlogBytes(): number {
    let bytes = 0
    for (const connection of this.#open) bytes += connection.backlogBytes
    return bytes
  }

  /** A socket whose handshake is done and whose slot is taken. */
  enter(caller: Caller, socket: StreamSocket, raw: Duplex): void {
    const row = this.#deps.subscriptions.openRow()
    const connection = new Connection(caller, row, socket, raw, this.#host)
    socket.connection = connection
    this.#byRow[row] = connection
    this.#open.add(connection)
    this.#sockets.add(socket)
    this.#listen(socket)
    connection.send(
      messages.connected(caller.sessionId, toSeconds(this.#deps.clock.utcMs()), {
        maxSymbols: caller.key.limits.wsSymbols,
        idleTimeoutSeconds: idleTimeoutMs / 1000,
        maxMessageBytes: messageBytesMax,
      }),
    )
    // The key may have changed while its slot was being taken.
    this.#review(connection, this.#deps.registry.view())
  }

  /** Closes so many sockets with 1012, those first that came first. */
  closeFirst(count: number): void {
    for (const connection of this.#open.values().take(count)) connection.end(closings.draining)
  }

  /** Closes every socket with 1012; resolves when all are gone, at the latest after three seconds. */
  async drain(): Promise<void> {
    this.closeFirst(this.#open.size)
    if (this.#sockets.size === 0) return
    await new Promise<void>((resolve) => {
      const cancel = this.#deps.clock.after(drainTimeoutMs, resolve)
      this.#onEmpty = () => {
        cancel()
        resolve()
      }
    })
    this.#onEmpty = undefined
    for (const socket of this.#sockets) socket.terminate()
  }

  close(): void {
    for (const stop of this.#stops) stop()
    this.#throttle.close()
    this.#delivery.close()
    this.#resumption.close()
    for (const socket of this.#sockets) socket.terminate()
  }

  async #leave(connection: Connection): Promise<void> {
    try {
      this.#forget(connection)
    } finally {
      // Whatever went wrong: a slot that is not freed here is renewed for as long as this process lives.
      await this.#deps.sessions.close(connection.sessionId)
    }
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection)
    this.#throttle.left(connection)
    this.#deps.onLeave()
    this.#byRow[connection.row] = undefined
    this.#resumption.forget(connection)
    this.#withdrawals.leave(connection)
    this.#deps.subscriptions.closeRow(connection.row)
  }

  #gone(socket: StreamSocket): void {
    this.#sockets.delete(socket)
    if (this.#sockets.size === 0) this.#onEmpty?.()
  }

  /** Whatever the connection is still owed, or its name. */
  #sayLast(connection: Connection): void {
    this.#fanOut.settle()
    const owed = this.#resumption.owed(connection)
    const isOwed = new Set(owed.map(({ symbol }) => symbol))
    const missed = this.#delivery.openGaps(connection.row).filter(({ symbol }) => !isOwed.has(symbol))
    const gaps = [...owed, ...missed]
    if (gaps.length > 0) nameGaps(connection, gaps, this.#deps.metrics)
  }

  /** Sockets without a slot take one again; over the cap the newest go. */
  async #reopenSlots(lapsed: ReadonlySet<string>): Promise<void> {
    const { sessions } = this.#deps
    const connections = [...this.#open].filter(({ sessionId }) => lapsed.has(sessionId))
    await Promise.all(
      connections.map(async (connection) => {
        const outcome = await sessions.reopen(connection.sessionId, connection.key.limits.wsConnections)
        if (outcome === 'full') connection.end(closings.overCap)
      }),
    )
  }

  /** Once a second over all sockets, instead of timers of their own. */
  #sweep(): void {
    const now = this.#deps.clock.monotonicMs()
    // While the process stood still pings may have come, and bytes have gone, that it sees only hereafter.
    this.#skipped = !this.#skipped && now - this.#sweptAt > sweepLateMs
    this.#sweptAt = now
    const { registry } = this.#deps
    const view = registry.loaded ? registry.view() : undefined
    for (const connection of this.#open) {
      if (!this.#skipped) checkSilence(connection, now)
      if (view) this.#review(connection, view)
    }
  }

  #onRegistry(view: RegistryView): void {
    this.#withdrawals.unknown(view, this.#open)
    for (const connection of this.#open) this.#review(connection, view)
    this.#withdrawals.returned(view)
  }

  /** Ends a connection whose key may no longer be used, and its subscriptions to feeds no longer granted. */
  #review(connection: Connection, view: RegistryView): void {
    const key = view.key(connection.key.id)
    if (!key || !connection.open) return
    const verdict = reviewKey(key, connection, this.#deps.clock.utcMs())
    if (verdict) return this.#expel(connection, verdict)
    if (key === connection.key) return
    connection.key = key
    this.#withdrawals.ungranted(connection)
  }

  #expel(connection: Connection, { code, message, closing }: Verdict): void {
    this.#deps.log.info({ session: connection.sessionId, key: connection.key.id, code }, 'a socket was cut')
    this.#fanOut.settle()
    connection.send(messages.error(code, message))
    connection.end(closing)
  }
}

function checkSilence(connection: Connection, now: number): void {
  if (now - connection.lastSeen >= idleTimeoutMs) connection.end(closings.idle)
  else connection.checkBacklog(now)
}
