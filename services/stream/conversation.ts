import { isGranted } from '../access/grant.ts'
import type { KeyRecord } from '../core/api-key.ts'
import type { CompoundKey } from '../core/compound-key.ts'
import { toSeconds } from '../core/feed-clock.ts'
import type { RegistryView } from '../core/registry.ts'
import type { FollowedRegistry } from '../platform/follow-registry.ts'
import type { Clock } from '../ports/clock.ts'
import type { Connection } from './connection.ts'
import type { FanOut } from './fan-out/fan-out.ts'
import type { Subscriptions } from './fan-out/subscriptions.ts'
import type { StreamMetrics } from './metrics.ts'
import { messages, parseMessage } from './protocol.ts'

/** Answers what clients say. Each message has exactly one answer, in the order of asking. */
export class Conversation {
  readonly #clock: Clock
  readonly #registry: FollowedRegistry
  readonly #subscriptions: Subscriptions
  readonly #fanOut: FanOut
  readonly #metrics: StreamMetrics

  constructor(parts: {
    readonly clock: Clock
    readonly registry: FollowedRegistry
    readonly subscriptions: Subscriptions
    readonly fanOut: FanOut
    readonly metrics: StreamMetrics
  }) {
    this.#clock = parts.clock
    this.#registry = parts.registry
    this.#subscriptions = parts.subscriptions
    this.#fanOut = parts.fanOut
    this.#metrics = parts.metrics
  }

  answer(connection: Connection, text: string): void {
    const message = parseMessage(text)
    if ('code' in message) {
      this.#metrics.misunderstood.inc()
      return connection.send(messages.error(message.code, message.message))
    }
    switch (message.action) {
      case 'ping':
        return connection.send(messages.pong(toSeconds(this.#clock.utcMs())))
      case 'subscribe':
        return this.#subscribe(connection, new Set(message.symbols))
      case 'unsubscribe':
        return this.#unsubscribe(connection, new Set(message.symbols))
    }
  }

  #subscribe(connection: Connection, symbols: ReadonlySet<string>): void {
    this.#fanOut.settle()
    const view = this.#registry.view()
    const key = view.key(connection.key.id) ?? connection.key
    const accepted: string[] = []
    const rejected: string[] = []
    for (const symbol of symbols) {
      const list = this.#accept(connection, key, symbol, view) ? accepted : rejected
      list.push(symbol)
    }
    connection.send(messages.subscribed(accepted, rejected))
  }

  #accept({ row }: Connection, key: KeyRecord, symbol: string, view: RegistryView): boolean {
    const record = view.symbol(symbol as CompoundKey)
    if (!record || !isGranted(key, record.feed)) return false
    const id = this.#subscriptions.idOf(record.symbol)
    if (this.#subscriptions.has(row, id)) return true
    if (this.#subscriptions.count(row) >= key.limits.wsSymbols) return false
    this.#subscriptions.add(row, id)
    return true
  }

  #unsubscribe(connection: Connection, symbols: ReadonlySet<string>): void {
    this.#fanOut.settle()
    for (const symbol of symbols) {
      const id = this.#subscriptions.knownId(symbol as CompoundKey)
      if (id !== undefined) this.#subscriptions.remove(connection.row, id)
    }
    connection.send(messages.unsubscribed([...symbols]))
  }
}
