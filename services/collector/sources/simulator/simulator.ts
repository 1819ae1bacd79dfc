import { barCount, noBars } from '../../../core/bar.ts'
import { bucketOpen } from '../../../core/derive.ts'
import type { FeedDefinition, ListedSymbol } from '../../../core/feed.ts'
import { type FeedSeconds, feedNow, feedSeconds, fixedOffset } from '../../../core/feed-clock.ts'
import type { Resolution } from '../../../core/resolution.ts'
import { cleanName } from '../../../core/symbol-name.ts'
import type { Span } from '../../../core/window.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Source, SourceAnswer, SourceBars, SourceListener, SourceSeries } from '../../source.ts'
import { instrumentOf } from './instrument.ts'
import { type Simulation, simulate } from './simulate.ts'

/** The tick that closes a minute comes so long after it. */
const tickDelayMs = 150
const minuteMs = 60_000
/** Longer sleeps (a laptop's lid) are read as history after the next start, not as live minutes. */
const catchUpSeconds = 6 * 3_600

/** A deterministic market: the same seed tells the same story on every machine, at every start, for every span. */
export function createSimulator(definition: FeedDefinition, seed: number, clock: Clock): Source {
  const offset = fixedOffset(definition.clock) ?? 0
  const resolutions = definition.resolutions.filter((r) => r !== '30')
  const listed = new Map(definition.symbols.map((symbol) => [symbol.raw, symbol]))
  const simulations = new Map(definition.symbols.map((symbol) => [symbol.raw, simulationOf(symbol)]))
  const now = (): FeedSeconds => feedNow(clock.utcMs(), offset, undefined) as FeedSeconds

  function simulationOf(symbol: ListedSymbol): Simulation {
    const name = cleanName(symbol.raw, definition.suffixes)
    const session = symbol.session ?? (symbol.type === 'crypto' ? '24x7' : '24x5')
    const simulated = { name, type: symbol.type, digits: symbol.digits, session }
    return {
      symbol: simulated,
      instrument: instrumentOf(simulated, seed),
      hoursToUtc: Math.floor(offset / 3_600),
    }
  }

  /** The end of what has closed: bars that open before it are over, a delayed symbol's later. */
  function closedUntil(raw: string, r: Resolution, at: FeedSeconds): FeedSeconds {
    const delaySeconds = listed.get(raw)?.delaySeconds ?? definition.delaySeconds
    return bucketOpen(feedSeconds(at - delaySeconds), r)
  }

  function* read({ raw, resolution }: SourceSeries, span: Span): Generator<SourceAnswer> {
    const simulation = simulations.get(raw)
    const to = feedSeconds(Math.min(span.to, closedUntil(raw, resolution, now())))
    if (!simulation || span.from >= to) return
    let from = span.from
    for (const bars of simulate(simulation, resolution, span.from, to)) {
      const end = feedSeconds((bars.time[barCount(bars) - 1] as number) + 1)
      yield { bars, complete: { from, to: end } }
      from = end
    }
    yield { bars: noBars, complete: { from, to } }
  }

  /** What closed in `(before, at]`, of all symbols and resolutions, as one batch. */
  function closedBetween(before: FeedSeconds, at: FeedSeconds): SourceBars[] {
    const batch: SourceBars[] = []
    for (const [raw, simulation] of simulations) {
      for (const resolution of resolutions) {
        const from = closedUntil(raw, resolution, before)
        const to = closedUntil(raw, resolution, at)
        if (from >= to) continue
        for (const bars of simulate(simulation, resolution, from, to)) batch.push({ raw, resolution, bars })
      }
    }
    return batch
  }

  function tell(listener: SourceListener, before: FeedSeconds, at: FeedSeconds): void {
    listener.tick(at)
    const batch = closedBetween(before, at)
    if (batch.length > 0) listener.closed(batch)
    for (const resolution of resolutions) {
      const span = { from: bucketOpen(before, resolution), to: bucketOpen(at, resolution) }
      if (span.from < span.to) listener.complete(resolution, span)
    }
  }

  return {
    terminal: `simulator seed ${seed}`,
    capabilities: { rereadable: true, reads: 'pieces' },
    async open(listener, signal) {
      listener.catalogue(
        definition.symbols.map((symbol) => ({ ...symbol, resolutions })),
        true,
      )
      let told = now()
      listener.tick(told)
      const minutePassed = (): void => {
        if (signal.aborted) return
        const at = now()
        tell(listener, feedSeconds(Math.max(told, at - catchUpSeconds)), at)
        told = at
        wait()
      }
      const wait = (): void => {
        const cancel = clock.after(minuteMs - (clock.utcMs() % minuteMs) + tickDelayMs, () => {
          signal.removeEventListener('abort', cancel)
          minutePassed()
        })
        signal.addEventListener('abort', cancel)
      }
      wait()
    },
    async *read(series, span, signal) {
      for (const answer of read(series, span)) {
        if (signal.aborted) return
        yield answer
      }
    },
  }
}
