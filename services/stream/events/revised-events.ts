import { type Series, seriesId } from '../../core/bars/series.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Connection } from '../connection/connection.ts'
import { messages, type Revised } from '../connection/protocol.ts'
import type { SharedDeps } from '../deps.ts'
import { type Frames, textFrame } from '../fan-out/frame.ts'
import { Listeners } from './listeners.ts'

/** Changes of one series within this time are one frame. */
const sendEveryMs = 1_000

/** Tells sockets which ranges of their symbols history shows differently, at most once a second and series. */
export class RevisedEvents {
  readonly #subscriptions: SharedDeps['subscriptions']
  readonly #listeners = new Listeners()
  /** By series: at most as many as the registry has. */
  readonly #pending = new Map<string, Revised>()
  readonly close: () => void

  constructor({ clock, subscriptions }: Pick<SharedDeps, 'clock' | 'subscriptions'>) {
    this.#subscriptions = subscriptions
    this.close = clock.every(sendEveryMs, () => this.#send())
  }

  listen(connection: Connection, feeds: Iterable<FeedKey>, isWanted: boolean): void {
    for (const feed of feeds) this.#listeners.set(connection, feed, isWanted)
  }

  has(connection: Connection): boolean {
    return this.#listeners.has(connection)
  }

  keep(connection: Connection, feeds: ReadonlySet<FeedKey>): void {
    this.#listeners.keep(connection, feeds)
  }

  revised({ series, from, to }: Revised): void {
    if (this.#listeners.of(series.feed).size === 0) return
    const id = seriesId(series)
    const before = this.#pending.get(id)
    this.#pending.set(id, {
      series,
      from: before && before.from < from ? before.from : from,
      to: before && before.to > to ? before.to : to,
    })
  }

  #send(): void {
    if (this.#pending.size === 0) return
    const frames = new Map<Connection, Frames>()
    for (const { series, from, to } of this.#pending.values()) {
      const frame = textFrame(messages.revised({ series, from, to }))
      for (const connection of this.#subscribers(series))
        frames.set(connection, (frames.get(connection) ?? '') + frame)
    }
    this.#pending.clear()
    for (const [connection, all] of frames) connection.write(all)
  }

  #subscribers({ feed, symbol }: Series): Connection[] {
    const id = this.#subscriptions.symbols.knownId(symbol)
    if (id === undefined) return []
    return [...this.#listeners.of(feed)].filter(({ row }) => this.#subscriptions.has(row, id))
  }
}
