import type { Bar } from '../../core/bars/bar.ts'
import type { CompoundKey } from '../../core/feeds/compound-key.ts'
import type { RecentBars } from '../catch-up/recent-bars.ts'
import type { Resumption } from '../catch-up/resumption.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import type { SymbolFrames } from '../fan-out/symbol-frames.ts'
import type { SymbolTable } from '../fan-out/symbol-table.ts'
import type { StreamMetrics } from '../metrics.ts'
import type { LiveSymbols } from './live-symbols.ts'

export interface LivePushDeps {
  readonly symbols: SymbolTable
  readonly liveSymbols: LiveSymbols
  readonly frames: SymbolFrames
  readonly fanOut: FanOut
  readonly recent: RecentBars
  readonly resumption: Resumption
  readonly metrics: Pick<StreamMetrics, 'stale' | 'bars'>
}

/** Frames a live bar once and pushes it to the subscribers; per symbol strictly ascending in time. */
export class LivePush {
  readonly #deps: LivePushDeps

  constructor(deps: LivePushDeps) {
    this.#deps = deps
  }

  /** Drops a bar that is not newer than the last one of its symbol. */
  push(symbol: CompoundKey, bar: Bar): void {
    const { symbols, liveSymbols, frames, fanOut, recent, resumption, metrics } = this.#deps
    const id = symbols.idOf(symbol)
    const last = liveSymbols.lastTime(id)
    if (last !== undefined && bar.time <= last) return metrics.stale.inc()
    resumption.arriving(id, bar.time)
    recent.add(id, bar)
    liveSymbols.setLastTime(id, bar.time)
    const subscribers = symbols.subscribers(id)
    if (subscribers === 0) return
    fanOut.push(id, frames.frame(id, bar))
    metrics.bars.inc(subscribers)
  }
}
