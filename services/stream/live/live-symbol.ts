import type { Bar } from '../../core/bars/bar.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { Format } from '../../frames/client-messages.ts'
import type { Connection } from '../connection/connection.ts'
import {
  barEntry,
  barFrame,
  barPrefix,
  barsFrame,
  barsPrefix,
  entryPrefix,
  type Frames,
} from '../fan-out/frame.ts'
import type { SymbolId } from '../fan-out/symbol-table.ts'
import { RecentBars } from './recent-bars.ts'

export class LiveSymbol {
  readonly id: SymbolId
  readonly symbol: CompoundKey
  readonly recent = new RecentBars()
  /** Open time of the last live bar. */
  lastTime: FeedSeconds | undefined
  /** It left the registry. A bar may come before the registry shows its return. */
  isAbsent = false
  /** How often it returned to the registry: a replay that began before ends with a GAP frame. */
  returns = 0
  /** Sockets that got every stored bar, with the time of the last. The symbol is deferred for them until a later bar. */
  readonly waiting = new Map<Connection, FeedSeconds>()
  readonly #prefix: Frames
  readonly #entryPrefix: Frames

  constructor(id: SymbolId, symbol: CompoundKey) {
    this.id = id
    this.symbol = symbol
    this.#prefix = barPrefix(symbol)
    this.#entryPrefix = entryPrefix(symbol)
  }

  frame(bar: Bar): Frames {
    return barFrame(this.#prefix, bar)
  }

  /** The bar as an entry of a frame with many bars. */
  entry(bar: Bar): Frames {
    return barEntry(this.#entryPrefix, bar)
  }

  /** Frames for one socket. They have one bar each in both formats: no bar waits for those of other symbols. */
  frames(bars: readonly Bar[], format: Format): Frames {
    if (format === 'bar') return bars.map((bar) => this.frame(bar)).join('')
    const feed = feedOf(this.symbol)
    return bars.map((bar) => barsFrame(barsPrefix(feed, bar.time), this.entry(bar))).join('')
  }
}
