import type { Bar } from '../../core/bars/bar.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { CompoundKey } from '../../core/feeds/compound-key.ts'
import type { Connection } from '../connection/connection.ts'
import { barFrame, barPrefix, type Frames } from '../fan-out/frame.ts'
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

  constructor(id: SymbolId, symbol: CompoundKey) {
    this.id = id
    this.symbol = symbol
    this.#prefix = barPrefix(symbol)
  }

  frame(bar: Bar): Frames {
    return barFrame(this.#prefix, bar)
  }
}
