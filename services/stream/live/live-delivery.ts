import { markStage } from '../../platform/stages.ts'
import type { Delivered } from '../../ports/bus.ts'
import type { SharedDeps } from '../deps.ts'
import type { Events } from '../events/events.ts'
import type { LiveFeeds } from './live-feeds.ts'

type LiveDeliveryDeps = Pick<SharedDeps, 'bus' | 'fanOut'> & {
  readonly feeds: LiveFeeds
  readonly events: Events
}

/** Follows the bus and passes each event to its feed. It uses closed M1 bars only. */
export class LiveDelivery {
  readonly #deps: LiveDeliveryDeps
  readonly close: () => void

  constructor(deps: LiveDeliveryDeps) {
    this.#deps = deps
    this.close = deps.bus.follow({
      deliver: (delivered) => this.#receive(delivered),
      lost: (feed, upTo) => deps.feeds.of(feed).lost(upTo),
    })
  }

  /** Bars are handled once their frames are written. */
  #receive({ position, event }: Delivered): void | Promise<void> {
    const { feeds, events, fanOut } = this.#deps
    if (event.type === 'registry') return
    if (event.type === 'revised') {
      events.revised(event)
      const { feed, symbol, resolution } = event.series
      if (resolution === '1') feeds.of(feed).revised(symbol, event.to)
      return
    }
    const feed = feeds.of(event.feed)
    if (event.type === 'applied') feed.applied(event.position)
    else if (event.type === 'settled') feed.applied(position)
    else if (event.type === 'minutes') feed.complete(event)
    else if (event.type === 'bars') {
      markStage('delivered')
      feed.receive(event.bars.filter(({ resolution }) => resolution === '1'))
      return fanOut.written()
    }
  }
}
