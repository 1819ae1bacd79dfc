import type { Series } from '../../core/bars/series.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { reached } from '../../platform/stages.ts'
import type { Bus, Delivered, LiveBar } from '../../ports/bus.ts'
import type { RecentBars } from '../catch-up/recent-bars.ts'
import type { Resumption } from '../catch-up/resumption.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import type { SymbolTable } from '../fan-out/symbol-table.ts'
import type { BusLosses, Minutes } from './bus-losses.ts'
import type { LivePush } from './live-push.ts'

export interface LiveDeliveryDeps {
  readonly bus: Bus
  readonly symbols: SymbolTable
  readonly fanOut: FanOut
  readonly recent: RecentBars
  readonly resumption: Resumption
  readonly livePush: LivePush
  readonly losses: BusLosses
}

/** Follows the bus and passes each event to the parts of the stream. It uses closed M1 bars only. */
export class LiveDelivery {
  readonly #deps: LiveDeliveryDeps
  readonly #unfollow: () => void

  constructor(deps: LiveDeliveryDeps) {
    this.#deps = deps
    this.#unfollow = deps.bus.follow({
      deliver: (delivered) => this.#receive(delivered),
      lost: (feed, upTo) => deps.losses.lost(feed, upTo),
    })
  }

  close(): void {
    this.#unfollow()
    this.#deps.losses.close()
  }

  /** Bars are handled once their frames are written. */
  #receive({ position, event }: Delivered): void | Promise<void> {
    const { losses, fanOut } = this.#deps
    if (event.type === 'bars') {
      this.#bars(event.feed, event.bars)
      return fanOut.written()
    }
    if (event.type === 'applied') losses.applied(event.feed, event.position)
    else if (event.type === 'settled') losses.applied(event.feed, position)
    else if (event.type === 'minutes') this.#complete(event.feed, event)
    else if (event.type === 'revised') this.#revised(event.series, event.to)
  }

  #bars(feed: FeedKey, bars: readonly LiveBar[]): void {
    reached('delivered')
    const { losses, livePush } = this.#deps
    const minutes = bars.filter((live) => live.resolution === '1')
    if (losses.isOpen(feed)) losses.queueBars(feed, minutes)
    else for (const { symbol, bar } of minutes) livePush.push(symbol, bar)
  }

  #complete(feed: FeedKey, minutes: Minutes): void {
    const { losses, resumption } = this.#deps
    if (losses.isOpen(feed)) losses.queueMinutes(feed, minutes)
    else resumption.markers.complete(feed, minutes.from, minutes.to)
  }

  #revised({ symbol, resolution }: Series, to: FeedSeconds): void {
    const id = this.#deps.symbols.knownId(symbol)
    if (resolution === '1' && id !== undefined) this.#deps.recent.revised(id, to)
  }
}
