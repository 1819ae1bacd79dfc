import type { Duplex } from 'node:stream'
import { toSeconds } from '../core/clocks/feed-clock.ts'
import { Resumption } from './catch-up/resumption.ts'
import { closeLabel } from './connection/close-codes.ts'
import {
  type Caller,
  type ConnectionDeps,
  messageBytesMax,
  type StreamSocket,
} from './connection/connection.ts'
import { messages } from './connection/protocol.ts'
import type { SharedDeps } from './deps.ts'
import { Events } from './events/events.ts'
import { FanOut } from './fan-out/fan-out.ts'
import type { OnFault } from './faults.ts'
import { LiveDelivery } from './live/live-delivery.ts'
import { LiveFeeds } from './live/live-feeds.ts'
import { Answers } from './sockets/answers.ts'
import { allBacklogBytesMax, BacklogLimit } from './sockets/backlog-limit.ts'
import { ClosingSockets } from './sockets/closing-sockets.ts'
import { createListeners } from './sockets/listeners.ts'
import { OpenSockets } from './sockets/open-sockets.ts'
import { idleTimeoutMs, SocketReview } from './sockets/review/socket-review.ts'
import type { Sessions } from './sockets/sessions.ts'
import { Throttle } from './sockets/throttle.ts'
import { WholeFeeds } from './sockets/whole-feeds.ts'

export interface HubDeps extends Omit<SharedDeps, 'fanOut'> {
  readonly sessions: Sessions
  readonly onFault: OnFault
  readonly backlogBytesMax?: number
  readonly onLeave: () => void
}

/** Puts the parts of the stream together, and adds sockets to them. */
export class Hub {
  readonly sockets: OpenSockets
  readonly close: () => void
  readonly #deps: Pick<HubDeps, 'clock' | 'registry'>
  readonly #resumption: Resumption
  readonly #review: SocketReview
  readonly #connectionDeps: ConnectionDeps
  readonly #listen: (socket: StreamSocket) => void

  constructor(deps: HubDeps) {
    const { clock, subscriptions, metrics } = deps
    this.#deps = deps
    const sockets = new OpenSockets(clock, subscriptions)
    const fanOut = new FanOut(
      clock,
      subscriptions,
      (row, frames) => sockets.at(row)?.write(frames) ?? true,
      (ms) => metrics.burst.observe(ms / 1000),
    )
    const shared = { ...deps, sockets, fanOut }
    const feeds = new LiveFeeds(shared)
    const events = new Events(shared)
    const resumption = new Resumption({ ...shared, feeds })
    const delivery = new LiveDelivery({ ...shared, feeds, events })
    const wholeFeeds = new WholeFeeds(shared)
    const answers = new Answers({ ...shared, feeds, resumption, events, wholeFeeds })
    const throttle = new Throttle(
      clock,
      (connection, text) => answers.answer(connection, text),
      () => metrics.throttled.inc(),
    )
    const closingSockets = new ClosingSockets({ ...shared, throttle, feeds, resumption, events, wholeFeeds })
    const backlogLimit = new BacklogLimit(sockets, deps.log, deps.backlogBytesMax ?? allBacklogBytesMax)
    this.sockets = sockets
    this.#resumption = resumption
    this.#connectionDeps = {
      now: () => clock.monotonicMs(),
      after: (delayMs, run) => clock.after(delayMs, run),
      queued: (bytes) => backlogLimit.queued(bytes),
      leave: (connection) => closingSockets.leave(connection),
      beforeClose: (connection) => closingSockets.beforeClose(connection),
      closed: (code) => metrics.closes.inc({ code: closeLabel(code) }),
      keyAllowance: (keyId) => throttle.entered(keyId),
      failed: ({ sessionId }, cause) => deps.onFault('socket', cause, sessionId),
    }
    this.#listen = createListeners(throttle, (socket) => sockets.gone(socket))
    this.#review = new SocketReview({ ...shared, resumption, events, wholeFeeds })
    this.close = () => {
      this.#review.close()
      throttle.close()
      wholeFeeds.close()
      delivery.close()
      feeds.close()
      resumption.close()
      events.close()
      sockets.terminate()
    }
  }

  get replays(): Resumption['replays'] {
    return this.#resumption.replays
  }

  /** Adds a socket whose handshake is done and whose slot is taken. */
  enter(caller: Caller, socket: StreamSocket, raw: Duplex): void {
    const connection = this.sockets.add(caller, socket, raw, this.#connectionDeps)
    this.#listen(socket)
    connection.send(
      messages.connected(caller.sessionId, toSeconds(this.#deps.clock.utcMs()), {
        maxSymbols: caller.key.limits.wsSymbols,
        idleTimeoutSeconds: idleTimeoutMs / 1000,
        maxMessageBytes: messageBytesMax,
      }),
    )
    // The key may have changed while its slot was being taken.
    this.#review.check(connection, this.#deps.registry.view())
  }
}
