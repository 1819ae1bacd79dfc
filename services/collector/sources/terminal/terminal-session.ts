import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { AnswerLine, TerminalRole, TerminalSymbol } from '../../../core/terminal/lines.ts'
import { catalogueSymbolsMax } from '../../../wire/limits.ts'
import type { FeedSeries } from './feed-series.ts'
import { type SweptFrom, ToldSeries } from './told-series.ts'

/** Pause before a catalogue that was empty or not whole is asked for again. */
const retryMs = 10_000

/** What one session of a terminal has said, and what it was told. */
export class TerminalSession {
  readonly #role: TerminalRole
  /** The newest tick that it reported; it may be an old one. */
  tick: FeedSeconds | undefined
  /** Whether the terminal is connected to its broker; `undefined` until it has said so. */
  isConnected: boolean | undefined
  /** The time until which bars had ended without a tick, when the last sweep was answered. The next sweep is later. */
  endedWithoutTick: FeedSeconds | undefined
  #symbols: TerminalSymbol[] = []
  #told = new ToldSeries()
  #select: readonly string[] = []
  /** When to ask for the catalogue; `undefined`: it was asked for. */
  #askAtMs: number | undefined

  /** `asksAtOnce`: the catalogue is not known, or the session sweeps. */
  constructor(role: TerminalRole, asksAtOnce: boolean) {
    this.#role = role
    this.#askAtMs = asksAtOnce ? 0 : undefined
  }

  get isLive(): boolean {
    return this.#role !== 'History'
  }

  get isHistory(): boolean {
    return this.#role !== 'Live'
  }

  /** Returns whether there is room for it. */
  addSymbol(symbol: TerminalSymbol): boolean {
    if (this.#symbols.length >= catalogueSymbolsMax) return false
    this.#symbols.push(symbol)
    return true
  }

  /** The symbols since the last call; `undefined` if they are none or not `count`: they are asked for again. */
  takeSymbols(count: number, nowMs: number): readonly TerminalSymbol[] | undefined {
    const symbols = this.#symbols
    this.#symbols = []
    if (symbols.length > 0 && symbols.length === Math.min(count, catalogueSymbolsMax)) return symbols
    this.#askAtMs = nowMs + retryMs
    return undefined
  }

  list({ swept, listed }: FeedSeries): void {
    this.#told.list(swept)
    this.#select = listed
  }

  /** Whether a sweep of this session to this time covered all collected series. */
  isWhole(resolution: Resolution, to: FeedSeconds, listener: SweptFrom): boolean {
    return this.#told.isWhole(resolution, to, listener)
  }

  /** Forgets what it was told: nothing is taken meanwhile. */
  standBy(series: FeedSeries): void {
    this.#told = new ToldSeries()
    this.list(series)
  }

  /** What the session is told next, apart from the history that is wanted. */
  lines(listener: SweptFrom, nowMs: number): AnswerLine[] {
    const lines: AnswerLine[] = []
    if (this.#askAtMs !== undefined && nowMs >= this.#askAtMs) {
      this.#askAtMs = undefined
      lines.push({ line: 'symbols' })
    }
    if (!this.isLive) return lines
    for (const raw of this.#select) lines.push({ line: 'select', raw })
    this.#select = []
    return [...lines, ...this.#told.lines(listener, nowMs, this.tick)]
  }
}
