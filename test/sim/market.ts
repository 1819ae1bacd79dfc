import type {
  Source,
  SourceAnswer,
  SourceListener,
  SourceSeries,
  SourceSymbol,
} from '../../services/collector/source.ts'
import { type Bar, type Bars, barsOf } from '../../services/core/bars/bar.ts'
import type { Span } from '../../services/core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../services/core/clocks/feed-clock.ts'
import type { Chance } from './runtime/chance.ts'
import type { SimProcess } from './runtime/timeline.ts'

export const marketNames = ['EURUSD', 'GBPUSD', 'XAUUSD'] as const
/** Probability that a symbol trades in a minute. */
const liquidity: Record<string, number> = { EURUSD: 1, GBPUSD: 0.8, XAUUSD: 0.4 }

/** The broker's bars, which history must show at the end of a run. */
export class Market {
  /** End of the last closed minute. */
  now: FeedSeconds
  readonly #chance: Chance
  /** By symbol, in order of time; a correction replaces a bar. */
  readonly #bars = new Map<string, Map<number, Bar>>(marketNames.map((name) => [name, new Map()]))
  readonly #closes = new Map<string, Set<number>>()
  readonly #terminals = new Set<SimTerminal>()

  constructor(startMinute: number, chance: Chance) {
    this.now = feedSeconds(startMinute * 60)
    this.#chance = chance
  }

  /** Every close price that a bar ever had. */
  closes(raw: string, time: number): ReadonlySet<number> {
    return this.#closes.get(`${raw} ${time}`) ?? new Set()
  }

  bars(raw: string): readonly Bar[] {
    return [...(this.#bars.get(raw)?.values() ?? [])]
  }

  within(raw: string, { from, to }: Span): Bars {
    return barsOf(this.bars(raw).filter(({ time }) => time >= from && time < to))
  }

  /** Closes the minute that opened at `open`. */
  closeMinute(open: FeedSeconds): void {
    this.now = feedSeconds(open + 60)
    for (const name of marketNames) {
      if (!this.#chance.is(liquidity[name] ?? 0)) continue
      this.#set(name, open)
    }
    for (const terminal of this.#terminals) terminal.closeMinute(open)
  }

  /** Corrects a random bar of the last minutes. */
  correct(): void {
    const name = this.#chance.pick(marketNames)
    const recent = this.bars(name).slice(-5, -1)
    if (recent.length === 0) return
    const { time } = this.#chance.pick(recent)
    this.#set(name, time)
    for (const terminal of this.#terminals) terminal.corrected(name, time)
  }

  #set(name: string, time: FeedSeconds): void {
    const bar = barOf(time, this.#chance.int(1_000))
    this.#bars.get(name)?.set(time, bar)
    const id = `${name} ${time}`
    this.#closes.set(id, new Set(this.#closes.get(id)).add(bar.close))
  }

  interrupted(): void {
    for (const terminal of this.#terminals) terminal.interrupted()
  }

  /** One terminal logged in to this broker. */
  terminal(process: SimProcess, rereadable: boolean): SimTerminal {
    const terminal = new SimTerminal(this, process, rereadable)
    this.#terminals.add(terminal)
    return terminal
  }
}

const barOf = (time: FeedSeconds, drawn: number): Bar => {
  const units = 100_000 + drawn
  return {
    time,
    open: units / 1e5,
    high: (units + 20) / 1e5,
    low: (units - 20) / 1e5,
    close: (units + 5) / 1e5,
    volume: drawn,
  }
}

export class SimTerminal implements Source {
  readonly terminal = 'simulated'
  readonly capabilities
  readonly #market: Market
  readonly #process: SimProcess
  #listener: SourceListener | undefined
  #watchedFrom: FeedSeconds

  constructor(market: Market, process: SimProcess, rereadable: boolean) {
    this.#market = market
    this.#process = process
    this.#watchedFrom = market.now
    this.capabilities = { rereadable, reads: 'pieces' as const, live: true }
  }

  async open(listener: SourceListener, signal: AbortSignal): Promise<void> {
    this.#listener = listener
    signal.addEventListener('abort', () => (this.#listener = undefined))
    this.#watchedFrom = this.#market.now
    listener.catalogue(marketNames.map(symbolOf), { snapshot: true })
    listener.tick(this.#market.now)
  }

  async *read(series: SourceSeries, span: Span): AsyncGenerator<SourceAnswer> {
    await this.#process.clock.sleep(5)
    const to = feedSeconds(Math.min(span.to, this.#market.now))
    yield { bars: this.#market.within(series.raw, { from: span.from, to }) }
    yield { bars: barsOf([]), complete: { from: span.from, to: feedSeconds(Math.max(span.from, to)) } }
  }

  closeMinute(open: FeedSeconds): void {
    const span = { from: open, to: feedSeconds(open + 60) }
    if (!this.#process.alive || !this.#listener) return
    this.#listener.tick(this.#market.now)
    const batch = marketNames.map((raw) => ({
      raw,
      resolution: '1' as const,
      bars: this.#market.within(raw, span),
    }))
    this.#listener.closed(batch.filter(({ bars }) => bars.time.length > 0))
    this.#listener.watched('1', { from: this.#watchedFrom, to: span.to })
  }

  corrected(raw: string, time: FeedSeconds): void {
    if (!this.#process.alive || !this.#listener) return
    const span = { from: time, to: feedSeconds(time + 60) }
    this.#listener.closed([{ raw, resolution: '1', bars: this.#market.within(raw, span) }])
  }

  /** Simulates a lost connection to the broker: the collector must read the bars of that time. */
  interrupted(): void {
    this.#watchedFrom = this.#market.now
  }
}

const symbolOf = (raw: string): SourceSymbol => ({ raw, digits: 5, type: 'forex', resolutions: ['1'] })
