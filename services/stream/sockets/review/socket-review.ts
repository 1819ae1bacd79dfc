import { isGranted } from '../../../access/grant.ts'
import { feedOf } from '../../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../../core/registry/registry.ts'
import type { Cancel } from '../../../ports/clock.ts'
import type { Resumption } from '../../catch-up/resumption.ts'
import { closings } from '../../connection/close-codes.ts'
import type { Connection } from '../../connection/connection.ts'
import { messages } from '../../connection/protocol.ts'
import type { SharedDeps } from '../../deps.ts'
import type { Events } from '../../events/events.ts'
import { symbolsOf } from '../../fan-out/subscriptions.ts'
import type { OpenSockets } from '../open-sockets.ts'
import { type Sessions, slotsAtOnce } from '../sessions.ts'
import type { WholeFeeds } from '../whole-feeds.ts'
import { type KeyRefusal, reviewKey } from './review-key.ts'

/** Maximum silence of a client, without a message or a ping; then it is closed with 4000. */
export const idleTimeoutMs = 60_000
const sweepMs = 1_000

interface SocketReviewDeps
  extends Pick<SharedDeps, 'clock' | 'log' | 'registry' | 'fanOut' | 'subscriptions'> {
  readonly sockets: OpenSockets
  readonly sessions: Sessions
  readonly resumption: Resumption
  readonly events: Events
  readonly wholeFeeds: WholeFeeds
}

/** Closes sockets that must not stay open: silent or slow clients, unusable keys, sockets over the cap. */
export class SocketReview {
  readonly #deps: SocketReviewDeps
  readonly #stops: readonly Cancel[]
  #sweptAt: number
  #skipped = false

  constructor(deps: SocketReviewDeps) {
    const { clock, registry, sessions } = deps
    this.#deps = deps
    sessions.onLapse((sessionIds) => void this.#reopenSlots(new Set(sessionIds)))
    this.#sweptAt = clock.monotonicMs()
    this.#stops = [
      registry.onChange((view) => this.#onRegistry(view)),
      clock.every(sweepMs, () => this.#sweep()),
    ]
  }

  /** Closes a connection whose key may no longer be used, and ends its subscriptions to feeds no longer granted. */
  check(connection: Connection, view: RegistryView): void {
    const key = view.keys.get(connection.key.id)
    if (!key || !connection.open) return
    const refusal = reviewKey(key, connection, this.#deps.clock.utcMs())
    if (refusal) return this.#close(connection, refusal)
    if (key === connection.key) return
    connection.key = key
    this.#endUngranted(connection)
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  /** Runs once a second over all sockets; a timer per socket would cost more. */
  #sweep(): void {
    const { clock, registry, sockets } = this.#deps
    const now = clock.monotonicMs()
    // After a delay of the process one sweep does not check silence: it runs before the process sees what arrived meanwhile.
    this.#skipped = !this.#skipped && now - this.#sweptAt > 2 * sweepMs
    this.#sweptAt = now
    const view = registry.loaded ? registry.view() : undefined
    for (const connection of sockets.connections()) {
      if (!this.#skipped) checkSilence(connection, now)
      if (view) this.check(connection, view)
    }
  }

  #onRegistry(view: RegistryView): void {
    for (const connection of this.#deps.sockets.connections()) this.check(connection, view)
  }

  #endUngranted(connection: Connection): void {
    const { subscriptions, fanOut, resumption, events, wholeFeeds } = this.#deps
    const whole = [...wholeFeeds.of(connection)].filter((feed) => !isGranted(connection.key, feed))
    wholeFeeds.remove(connection, whole)
    const { row, key } = connection
    const ended = symbolsOf(subscriptions, row).filter((symbol) => !isGranted(key, feedOf(symbol)))
    if (ended.length === 0 && whole.length === 0) return
    fanOut.flush()
    // It may have been closed as too slow just now.
    if (!connection.open) return
    for (const symbol of ended) subscriptions.remove(row, subscriptions.symbols.idOf(symbol))
    const feedsLeft = () => wholeFeeds.feedsOf(connection)
    resumption.review(connection, feedsLeft)
    events.review(connection, feedsLeft)
    if (ended.length > 0) connection.send(messages.unsubscribed(ended, 'SYMBOL_NOT_PERMITTED'))
    wholeFeeds.fillLater(connection)
  }

  /** Takes slots again for sockets without one; over the cap the newest sockets are closed. */
  async #reopenSlots(lapsed: ReadonlySet<string>): Promise<void> {
    const { sessions, sockets } = this.#deps
    const connections = [...sockets.connections()].filter(({ sessionId }) => lapsed.has(sessionId))
    const reopen = async (connection: Connection): Promise<void> => {
      const outcome = await sessions.reopen(connection.sessionId, connection.key.limits.wsConnections)
      if (outcome === 'full') connection.end(closings.overCap)
    }
    for (let at = 0; at < connections.length; at += slotsAtOnce)
      await Promise.all(connections.slice(at, at + slotsAtOnce).map(reopen))
  }

  #close(connection: Connection, { code, message, closing }: KeyRefusal): void {
    this.#deps.log.info(
      { session: connection.sessionId, key: connection.key.id, code },
      'socket closed: its key may no longer be used',
    )
    this.#deps.fanOut.flush()
    connection.send(messages.error(code, message))
    connection.end(closing)
  }
}

function checkSilence(connection: Connection, now: number): void {
  if (now - connection.lastSeen >= idleTimeoutMs) connection.end(closings.idle)
  else connection.checkBacklog(now)
}
