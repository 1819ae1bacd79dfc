import { seriesId } from '../../core/bars/series.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { TurnTime } from '../../platform/turn-time.ts'
import type { Cancel } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import { messages, type Revised } from '../connection/protocol.ts'
import type { SharedDeps } from '../deps.ts'
import { type Frames, textFrame } from '../fan-out/frame.ts'
import type { SymbolId } from '../fan-out/symbol-table.ts'
import { Listeners } from './listeners.ts'

/** Changes of one series within this time are one frame. */
const sendEveryMs = 1_000
/** Maximum milliseconds per turn of the event loop; further sockets get their frames in the next turn. */
const turnMs = 5

interface Change {
  readonly id: SymbolId
  readonly frame: Frames
}

/** Tells sockets which ranges of their symbols history shows differently, at most once a second and series. */
export class RevisedEvents {
  readonly #clock: SharedDeps['clock']
  readonly #subscriptions: SharedDeps['subscriptions']
  readonly #listeners = new Listeners()
  /** By series: at most as many as the registry has. */
  readonly #pending = new Map<string, Revised>()
  /** The changes that are being sent, and the sockets that have not got theirs. */
  readonly #changes = new Map<FeedKey, Change[]>()
  readonly #unserved = new Set<Connection>()
  readonly #turn: TurnTime
  /** Set from the first change until all sockets have it. */
  #cancel: Cancel | undefined

  constructor({ clock, subscriptions }: Pick<SharedDeps, 'clock' | 'subscriptions'>) {
    this.#clock = clock
    this.#subscriptions = subscriptions
    this.#turn = new TurnTime(clock, () => {
      if (this.#unserved.size > 0) this.#serve()
    })
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
    this.#sendLater()
  }

  close(): void {
    this.#cancel?.()
    this.#unserved.clear()
  }

  #sendLater(): void {
    this.#cancel ??= this.#clock.after(sendEveryMs, () => this.#send())
  }

  #send(): void {
    for (const { series, from, to } of this.#pending.values()) {
      const id = this.#subscriptions.symbols.knownId(series.symbol)
      if (id === undefined) continue
      const changes = this.#changes.get(series.feed) ?? []
      this.#changes.set(series.feed, changes)
      changes.push({ id, frame: textFrame(messages.revised({ series, from, to })) })
    }
    this.#pending.clear()
    for (const feed of this.#changes.keys())
      for (const connection of this.#listeners.of(feed)) this.#unserved.add(connection)
    this.#serve()
  }

  /** Sends while this turn has time. The next second begins once all sockets are served. */
  #serve(): void {
    for (const connection of this.#unserved) {
      if (!this.#turn.isLeft(turnMs, this.#clock.monotonicMs())) return
      this.#unserved.delete(connection)
      const frames = this.#framesFor(connection)
      if (frames !== '') connection.write(frames)
    }
    this.#changes.clear()
    this.#cancel = undefined
    if (this.#pending.size > 0) this.#sendLater()
  }

  /** For one write. The socket may have left a feed or a symbol since the changes were announced. */
  #framesFor(connection: Connection): Frames {
    let frames = ''
    for (const [feed, changes] of this.#changes) {
      if (!this.#listeners.of(feed).has(connection)) continue
      for (const { id, frame } of changes) if (this.#subscriptions.has(connection.row, id)) frames += frame
    }
    return frames
  }
}
