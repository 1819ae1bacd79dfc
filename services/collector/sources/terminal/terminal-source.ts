import { noBars } from '../../../core/bars/bar.ts'
import type { Span } from '../../../core/bars/window.ts'
import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { AnswerLine, TerminalHello, TerminalLine } from '../../../core/terminal/lines.ts'
import { LimitedLog } from '../../../platform/log/limited-log.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { Clock } from '../../../ports/clock.ts'
import { catalogueSymbolsMax } from '../../../wire/limits.ts'
import {
  pieces,
  type Source,
  type SourceAnswer,
  type SourceCapabilities,
  type SourceListener,
  type SourceSeries,
} from '../../source.ts'
import { TerminalPin } from '../../terminal-pin.ts'
import { finerSpan, foldAnswer, type SweptGroup } from './derived-bars.ts'
import { FeedSeries } from './feed-series.ts'
import { Sweeps } from './sweeps.ts'
import { NotTaken, type TerminalFeed } from './terminal-feed.ts'
import type { TerminalMetrics } from './terminal-metrics.ts'
import { TerminalSession } from './terminal-session.ts'
import { toSourceSymbol } from './terminal-symbols.ts'
import { TickClock } from './tick-clock.ts'
import { type WantAnswer, Wants } from './wants.ts'

export interface TerminalSourceDeps {
  readonly definition: FeedDefinition
  readonly clock: Clock
  readonly log: Log
  readonly metrics: TerminalMetrics
}

/** For so long the answer to history waits for the next range that is wanted. */
const wantWaitMs = 1_000

interface Opened {
  readonly listener: SourceListener
  readonly signal: AbortSignal
  readonly ticks: TickClock
}

/** A source whose terminal posts to it, in any number of sessions. It has no terminal at first. */
export class TerminalSource implements Source, TerminalFeed {
  readonly pin = new TerminalPin()
  readonly capabilities: SourceCapabilities = {
    rereadable: true,
    reads: 'pieces',
    live: true,
    readjusts: true,
  }
  readonly #deps: TerminalSourceDeps
  readonly #log: LimitedLog
  readonly #series: FeedSeries
  readonly #sessions = new Map<number, TerminalSession>()
  readonly #wants = new Wants()
  readonly #sweeps: Sweeps
  #opened: Opened | undefined
  #hello: TerminalHello | undefined

  constructor(deps: TerminalSourceDeps) {
    const { definition } = deps
    this.#deps = deps
    this.#log = new LimitedLog(deps.log, deps.clock)
    this.#series = new FeedSeries(definition)
    this.#sweeps = new Sweeps(this.#series)
  }

  get terminal(): string {
    if (!this.#hello) return 'terminal, not seen yet'
    const { kind, build, server } = this.#hello
    return `${kind} build ${build} of ${server}`
  }

  async open(listener: SourceListener, signal: AbortSignal): Promise<void> {
    this.#opened = { listener, signal, ticks: new TickClock(this.#deps.definition.clock, listener.time) }
    listener.connected(false)
  }

  async *read(series: SourceSeries, span: Span, signal: AbortSignal): AsyncGenerator<SourceAnswer> {
    const { bars, complete } = await this.#readWhole(series, span, signal)
    const derived = this.#series.finerOf(series.resolution) !== undefined
    for (const piece of pieces(bars)) yield { bars: piece, derived }
    if (complete) yield { bars: noBars, complete }
  }

  async begin(id: number, hello: TerminalHello): Promise<readonly AnswerLine[]> {
    const opened = this.#whileOpen()
    const { account: _, newestTick, ...about } = hello
    const { kind, role } = hello
    this.#deps.log.info({ feed: this.#deps.definition.key, ...about }, 'terminal began a session')
    this.#hello = hello
    this.#series.isMt4 = kind === 'MT4'
    const session = new TerminalSession(role, role !== 'History' || this.#series.raws.size === 0)
    this.#sessions.set(id, session)
    session.list(this.#series)
    if (session.isHistory) this.#wants.restart()
    if (session.isLive) this.#sweeps.restart()
    if (newestTick !== undefined) this.#tick(session, opened, newestTick)
    return this.#answer(session, opened)
  }

  async take(id: number, lines: readonly TerminalLine[]): Promise<readonly AnswerLine[]> {
    const opened = this.#whileOpen()
    const session = this.#sessions.get(id)
    if (!session) throw new NotTaken('The collector does not know this session any more.')
    const takesBars = opened.listener.takesBars
    for (const line of lines) {
      this.#note(session, opened, line)
      if (takesBars) this.#apply(session, opened, line)
    }
    if (takesBars) await this.#sweeps.report(session, opened, lines)
    if (session.isHistory) await this.#nextWants(session, lines)
    return this.#answer(session, opened)
  }

  end(id: number): void {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    if (session?.isHistory) this.#wants.restart()
    this.#reportConnected()
  }

  /**
   * The reads that this post answered end in a later turn; only then is the next range wanted. The answer waits for it,
   * since the terminal would post again only after 1 s. The answer to a sweep does not wait.
   */
  async #nextWants({ isLive }: TerminalSession, lines: readonly TerminalLine[]): Promise<void> {
    const { clock } = this.#deps
    await new Promise<void>((resolve) => clock.soon(resolve))
    // A catalogue, too, is followed by the first ranges of its series.
    if (isLive || !lines.some(({ line }) => line === 'complete' || line === 'catalogue')) return
    await new Promise<void>((resolve) => {
      const cancel = clock.after(wantWaitMs, resolve)
      this.#wants.whenOpen(() => {
        cancel()
        resolve()
      })
    })
  }

  async #readWhole(series: SourceSeries, span: Span, signal: AbortSignal): Promise<WantAnswer> {
    const { raw, resolution } = series
    const finer = this.#series.finerOf(resolution)
    if (!finer) return this.#wants.read(series, span, signal)
    const answer = await this.#wants.read({ raw, resolution: finer }, finerSpan(span, resolution), signal)
    return foldAnswer(answer, span, resolution)
  }

  /** Throws `NotTaken` before the source was opened and after it has ended. */
  #whileOpen(): Opened {
    if (this.#opened && !this.#opened.signal.aborted) return this.#opened
    throw new NotTaken('The collector is starting or stopping.')
  }

  /** Lines that count on standby too. */
  #note(session: TerminalSession, opened: Opened, line: TerminalLine): void {
    const { metrics } = this.#deps
    if (line.line === 'tick' && !this.#series.isDelayed(line.raw)) this.#tick(session, opened, line.time)
    if (line.line === 'connected') {
      session.isConnected = line.is
      this.#reportConnected()
    }
    if (line.line === 'memory') metrics.memory(line.usedMb, line.totalMb)
    if (line.line === 'error') {
      const { number, function: called, raw } = line
      const label = metrics.failed(number)
      this.#warn({ number, function: called, raw }, 'function of the terminal failed', label)
    }
  }

  #apply(session: TerminalSession, opened: Opened, line: TerminalLine): void {
    switch (line.line) {
      case 'symbol':
        if (!session.addSymbol(line.symbol))
          this.#warn(
            { symbolsMax: catalogueSymbolsMax },
            'too many symbols in the terminal; the last ones are ignored',
          )
        break
      case 'catalogue':
        this.#list(session, opened, line.count)
        break
      case 'bars':
        this.#bars(session, line)
        break
      case 'complete':
        // The terminal lacks the newest bars. Ask again: `complete` would claim a time whose bars are missing.
        if (this.#isCutOff && line.span.to > (opened.ticks.newest ?? 0)) this.#wants.loading(line.series)
        else this.#wants.complete(line.series, line.span)
        break
      case 'loading':
        if (!this.#wants.loading(line.series)) return
        this.#deps.metrics.loading()
        this.#warn(line.series, 'history not loaded by the terminal yet; retrying')
        break
      case 'late':
        if (!session.isLive) return
        this.#sweeps.late(line.series)
        this.#warn(line.series, 'newest bars not loaded by the terminal yet; no window claims them')
        break
      case 'beyond':
        if (!this.#series.isCollected(line.series)) return
        this.#wants.beyond(line.series, line.oldest)
        this.#warn(
          { ...line.series, oldest: line.oldest, maxBars: this.#hello?.maxBars },
          'older bars unavailable in the terminal: its server has none, or "Max bars in chart" is too small',
        )
        break
      case 'hello':
      case 'tick':
      case 'connected':
      case 'watched':
      case 'memory':
      case 'error':
        break
    }
  }

  #list(session: TerminalSession, { listener }: Opened, count: number): void {
    const symbols = session.takeSymbols(count, this.#deps.clock.monotonicMs())
    if (!symbols) return this.#warn({ count }, 'symbols of the terminal not complete; asking again')
    this.#series.raws = new Set(symbols.map(({ raw }) => raw))
    this.#sweeps.keepListed()
    listener.catalogue(
      symbols.map((symbol) => toSourceSymbol(symbol, this.#series.resolutions)),
      { snapshot: true },
    )
    for (const each of this.#sessions.values()) each.list(this.#series)
  }

  #warn(fields: object, text: string, about?: string): void {
    this.#log.write('warn', { feed: this.#deps.definition.key, ...fields }, text, about)
  }

  #bars(session: TerminalSession, group: SweptGroup): void {
    const { series, bars, lastIsOpen } = group
    if (!this.#series.raws.has(series.raw)) return
    const others = this.#wants.take(series, bars, lastIsOpen, this.#sweeps.formingAt(series))
    // The session that sweeps may have posted later values of these bars since they were read.
    if (session.isLive) this.#sweeps.take(group, others)
  }

  #answer(session: TerminalSession, { listener }: Opened): AnswerLine[] {
    if (!listener.takesBars) {
      session.standBy(this.#series)
      return [{ line: 'standby' }]
    }
    const from = { reportFrom: (series: SourceSeries) => this.#series.sweptFrom(series, listener) }
    const lines = session.lines(from, this.#deps.clock.monotonicMs())
    for (const line of lines) if (line.line === 'newest') this.#sweeps.begin(line.series, line.time)
    return session.isHistory ? [...lines, ...this.#wants.lines] : lines
  }

  #tick(session: TerminalSession, { listener, ticks }: Opened, time: FeedSeconds): void {
    session.tick = time
    if (ticks.take(time)) listener.tick(time)
  }

  /** Whether the terminal says that it has no connection to its broker. */
  get #isCutOff(): boolean {
    const said = [...this.#sessions.values()].map(({ isConnected }) => isConnected)
    return said.includes(false) && !said.includes(true)
  }

  #reportConnected(): void {
    const isConnected = [...this.#sessions.values()].some((session) => session.isConnected)
    this.#opened?.listener.connected(isConnected)
  }
}
