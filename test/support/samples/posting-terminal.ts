import type { TerminalFeed } from '../../../services/collector/sources/terminal/terminal-feed.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import type {
  AnswerLine,
  TerminalBar,
  TerminalHello,
  TerminalLine,
  TerminalSeries,
} from '../../../services/core/terminal/lines.ts'

const minute = 60

/** A feed, or the endpoint in front of it. */
export type PostedTo = Omit<TerminalFeed, 'pin'>

export const terminalHello: TerminalHello = {
  program: 'FxdBridge',
  version: '1.0',
  kind: 'MT5',
  build: '4150',
  server: 'Broker-Live',
  company: 'Broker Ltd',
  account: '0123456789abcdef',
  maxBars: 0,
  newestTick: undefined,
  pcUtc: 0,
  role: 'Both',
}

/** A terminal with minutes that are computed from their time. It does what the answers say. */
export class PostingTerminal {
  /** Raw names; each trades in every minute. */
  symbols = ['EURUSD.z']
  /** Added to the last digit of the close of each closed bar, to distinguish revisions. */
  shift = 0
  /** Whether it still loads its history. */
  isLoading = false
  /** It has no bars before this time. */
  oldest = 0
  /** Time of the last tick; infinite while the market is open. */
  lastTick = Number.POSITIVE_INFINITY
  /** All lines of all answers, in order. */
  readonly told: AnswerLine[] = []
  readonly swept = new Map<string, number>()
  readonly #feed: PostedTo
  readonly #now: () => number
  #session = 0
  #wants: Extract<AnswerLine, { line: 'want' }>[] = []
  #isAsked = false
  #isStandby = false

  /** `sessions`: the number before that of its first session. */
  constructor(feed: PostedTo, now: () => number, sessions = 0) {
    this.#feed = feed
    this.#now = now
    this.#session = sessions
  }

  get session(): number {
    return this.#session
  }

  async begin(hello: Partial<TerminalHello> = {}): Promise<readonly AnswerLine[]> {
    this.#session += 1
    this.swept.clear()
    this.#wants = []
    return this.#hear(await this.#feed.begin(this.#session, { ...terminalHello, ...hello }))
  }

  /** Ends the session without a word. */
  vanish(): void {
    this.#feed.end(this.#session)
  }

  async post(...lines: TerminalLine[]): Promise<readonly AnswerLine[]> {
    return this.#hear(await this.#feed.take(this.#session, lines))
  }

  /** One turn of the program: ticks, a sweep over what it was told to sweep, and what is wanted. */
  async turn(): Promise<readonly AnswerLine[]> {
    const now = this.#tick
    const lines: TerminalLine[] = [
      { line: 'connected', is: true },
      { line: 'tick', time: feedSeconds(now), raw: this.symbols[0] ?? '' },
    ]
    if (!this.#isStandby) {
      if (this.#isAsked) lines.push(...this.catalogue())
      this.#isAsked = false
      for (const want of this.#wants) lines.push(...this.#history(want))
      this.#wants = []
      for (const raw of this.swept.keys()) lines.push(this.sweep(raw))
      if (this.swept.size > 0)
        lines.push({ line: 'watched', resolution: '1', to: feedSeconds(now - (now % minute)) })
    }
    return this.post(...lines)
  }

  catalogue(): TerminalLine[] {
    return [
      ...this.symbols.map((raw): TerminalLine => {
        const symbol = { raw, digits: 5, path: `Forex\\Majors\\${raw}`, description: raw }
        return { line: 'symbol', symbol }
      }),
      { line: 'catalogue', count: this.symbols.length },
    ]
  }

  /** The bars from where the collector said, and the one that is forming. */
  sweep(raw: string): TerminalLine {
    const bars = this.bars(this.swept.get(raw) ?? 0, this.#tick + 1)
    const last = bars.at(-1)
    if (last) this.swept.set(raw, last.time)
    return { line: 'bars', series: { raw, resolution: '1' }, bars, lastIsOpen: true }
  }

  /** All minutes that open in `[from, to)`. */
  bars(from: number, to: number): TerminalBar[] {
    const first = Math.ceil(Math.max(from, this.oldest) / minute)
    const count = Math.max(0, Math.ceil(Math.min(to, this.#tick + 1) / minute) - first)
    return Array.from({ length: count }, (_, i) => this.bar((first + i) * minute))
  }

  /** The close of a bar that is forming differs from its last one. */
  bar(time: number): TerminalBar {
    const units = 100_000 + ((time / minute) % 500)
    const price = (value: number): string => (value / 1e5).toFixed(5)
    const isForming = time + minute > this.#now()
    return {
      time: feedSeconds(time),
      open: price(units),
      high: price(units + 20),
      low: price(units - 20),
      close: price(units + 5 + this.shift - (isForming ? 9 : 0)),
      volume: (units % 97) + (isForming ? 0 : 1),
    }
  }

  get #tick(): number {
    return Math.min(this.#now(), this.lastTick)
  }

  *#history({
    series,
    span,
  }: {
    series: TerminalSeries
    span: { from: number; to: number }
  }): Generator<TerminalLine> {
    if (this.isLoading) {
      yield { line: 'loading', series }
      return
    }
    const bars = this.bars(span.from, span.to)
    const lastIsOpen = span.to > this.#now() && bars.length > 0
    if (bars.length > 0) yield { line: 'bars', series, bars, lastIsOpen }
    if (span.from < this.oldest) yield { line: 'beyond', series, oldest: feedSeconds(this.oldest) }
    else yield { line: 'complete', series, span: { from: feedSeconds(span.from), to: feedSeconds(span.to) } }
  }

  #hear(answer: readonly AnswerLine[]): readonly AnswerLine[] {
    this.told.push(...answer)
    this.#isStandby = answer.some(({ line }) => line === 'standby')
    for (const line of answer) {
      if (line.line === 'symbols') this.#isAsked = true
      if (line.line === 'newest' && line.series.resolution === '1')
        this.swept.set(line.series.raw, line.time ?? this.#now() - (this.#now() % minute))
      if (line.line === 'want' && this.#wants.length < 4) this.#wants.push(line)
    }
    return answer
  }
}
