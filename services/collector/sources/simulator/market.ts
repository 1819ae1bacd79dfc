import { barCount, noBars, timeAt } from '../../../core/bars/bar.ts'
import { bucketOpen } from '../../../core/bars/derive.ts'
import type { Span } from '../../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition, ListedSymbol } from '../../../core/feeds/feed.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { sessionOfType } from '../../../core/feeds/symbol.ts'
import { cleanNames } from '../../../core/feeds/symbol-name.ts'
import type { SourceAnswer, SourceBars, SourceSeries } from '../../source.ts'
import { instrumentOf } from './instrument.ts'
import { type Simulation, simulate } from './simulate.ts'

/** All instruments of one feed; every moment is on the feed's clock. */
export interface Market {
  readonly resolutions: readonly Resolution[]
  /** Yields the bars of one series that had closed by `now`, in ascending answers. */
  read(series: SourceSeries, span: Span, now: FeedSeconds): Generator<SourceAnswer>
  /** Returns the bars of all series that closed after `before` and not after `at`, as one batch. */
  closedBetween(before: FeedSeconds, at: FeedSeconds): SourceBars[]
}

interface Listed {
  readonly simulation: Simulation
  readonly delaySeconds: number
}

/** Open of the bar that is forming: bars before it have closed. For a delayed symbol it is earlier by the delay. */
const formingOpen = ({ delaySeconds }: Listed, r: Resolution, at: FeedSeconds): FeedSeconds =>
  bucketOpen(feedSeconds(at - delaySeconds), r)

export function createMarket(definition: FeedDefinition, seed: number, offsetSeconds: number): Market {
  const resolutions = definition.resolutions.filter((r) => r !== '30')
  const nameOf = cleanNames(definition)
  const listed = new Map(definition.symbols.map((symbol) => [symbol.raw, list(symbol)]))

  function list(symbol: ListedSymbol): Listed {
    const name = nameOf(symbol.raw)
    const session = symbol.session ?? sessionOfType(symbol.type)
    const simulated = { name, type: symbol.type, digits: symbol.digits, session }
    return {
      simulation: {
        symbol: simulated,
        instrument: instrumentOf(simulated, seed),
        hoursToUtc: Math.floor(offsetSeconds / 3_600),
      },
      delaySeconds: symbol.delaySeconds ?? definition.delaySeconds,
    }
  }

  return {
    resolutions,
    *read({ raw, resolution }, span, now) {
      const symbol = listed.get(raw)
      if (!symbol) return
      const to = feedSeconds(Math.min(span.to, formingOpen(symbol, resolution, now)))
      let { from } = span
      for (const bars of from < to ? simulate(symbol.simulation, resolution, from, to) : []) {
        const end = feedSeconds(timeAt(bars, barCount(bars) - 1) + 1)
        yield { bars, complete: { from, to: end } }
        from = end
      }
      if (from < to) yield { bars: noBars, complete: { from, to } }
    },
    closedBetween(before, at) {
      const batch: SourceBars[] = []
      for (const [raw, symbol] of listed) {
        for (const resolution of resolutions) {
          const from = formingOpen(symbol, resolution, before)
          const to = formingOpen(symbol, resolution, at)
          if (from >= to) continue
          for (const bars of simulate(symbol.simulation, resolution, from, to))
            batch.push({ raw, resolution, bars })
        }
      }
      return batch
    },
  }
}
