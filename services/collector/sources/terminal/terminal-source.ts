import { barCount, noBars, sliceBars } from '../../../core/bars/bar.ts'
import { type Span, windowFromMin } from '../../../core/bars/window.ts'
import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { AnswerLine, TerminalHello, TerminalLine } from '../../../core/terminal/lines.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { Clock } from '../../../ports/clock.ts'
import {
  type Source,
  type SourceAnswer,
  type SourceCapabilities,
  type SourceListener,
  type SourceSeries,
  sourceBarsMax,
} from '../../source.ts'
import { Notices } from './notices.ts'
import { SweptBars } from './swept-bars.ts'
import { NotTaken, type TerminalFeed, type TerminalPin } from './terminal-feed.ts'
import { type TerminalCatalogue, TerminalSession } from './terminal-session.ts'
import { symbolsMax, toSourceSymbol } from './terminal-symbols.ts'
import { TickClock } from './tick-clock.ts'
import { Wants } from './wants.ts'

export interface TerminalSourceDeps {
  readonly definition: FeedDefinition
  readonly clock: Clock
  readonly log: Log
}

type Line<Name extends TerminalLine['line']> = TerminalLine & { readonly line: Name }

interface Opened {
  readonly listener: SourceListener
  readonly signal: AbortSignal
  readonly ticks: TickClock
}

/** Before the source is opened. */
const unknownPin: TerminalPin = { identity: 'unknown', offer: () => undefined }

/** A source whose terminal posts to it, in any number of sessions. It has no terminal at first. */
export class TerminalSource implements Source, TerminalFeed {
  readonly pin = unknownPin
  readonly capabilities: SourceCapabilities = { rereadable: true, reads: 'pieces', live: true }
  readonly #deps: TerminalSourceDeps
  readonly #notices: Notices
  readonly #resolutions: readonly Resolution[]
  readonly #sessions = new Map<number, TerminalSession>()
  readonly #wants = new Wants()
  readonly #swept: SweptBars
  readonly #delays: ReadonlyMap<string, number | undefined>
  #raws: ReadonlySet<string> = new Set()
  #catalogue: TerminalCatalogue
  #opened: Opened | undefined
  #hello: TerminalHello | undefined

  constructor(deps: TerminalSourceDeps) {
    const { definition } = deps
    this.#deps = deps
    this.#notices = new Notices(deps)
    this.#resolutions = definition.resolutions.filter((r) => r !== '30')
    this.#delays = new Map(definition.symbols.map(({ raw, delaySeconds }) => [raw, delaySeconds]))
    this.#catalogue = { series: [], listed: definition.symbols.map(({ raw }) => raw) }
    this.#swept = new SweptBars((raw) => this.#isDelayed(raw))
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
    const { bars, complete } = await this.#wants.read(series, span, signal)
    for (let start = 0; start < barCount(bars); start += sourceBarsMax)
      yield { bars: sliceBars(bars, start, Math.min(barCount(bars), start + sourceBarsMax)) }
    if (complete) yield { bars: noBars, complete }
  }

  async begin(id: number, hello: TerminalHello): Promise<readonly AnswerLine[]> {
    const opened = this.#open()
    const { program, version, kind, build, server, company, role } = hello
    this.#deps.log.info(
      { feed: this.#deps.definition.key, program, version, kind, build, server, company, role },
      'terminal began a session',
    )
    this.#hello = hello
    const session = new TerminalSession(hello, role !== 'History' || this.#raws.size === 0)
    this.#sessions.set(id, session)
    session.list(this.#catalogue)
    if (session.isHistory) this.#wants.restart()
    if (hello.newestTick !== undefined) this.#tick(session, opened, hello.newestTick)
    return this.#answer(session, opened)
  }

  async take(id: number, lines: readonly TerminalLine[]): Promise<readonly AnswerLine[]> {
    const opened = this.#open()
    const session = this.#sessions.get(id)
    if (!session) throw new NotTaken('The collector does not know this session any more.')
    const takesBars = opened.listener.takesBars
    for (const line of lines) {
      this.#note(session, opened, line)
      if (takesBars) this.#apply(session, opened, line)
    }
    if (takesBars) await this.#report(session, opened, lines)
    // The reads that this post answered are over then, and the next ones wait for their range.
    if (session.isHistory) await new Promise<void>((resolve) => this.#deps.clock.soon(resolve))
    return this.#answer(session, opened)
  }

  end(id: number): void {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    if (session?.isHistory) this.#wants.restart()
    this.#showConnected()
  }

  #open(): Opened {
    if (this.#opened && !this.#opened.signal.aborted) return this.#opened
    throw new NotTaken('The collector is starting or stopping.')
  }

  /** Lines that count on standby too. */
  #note(session: TerminalSession, opened: Opened, line: TerminalLine): void {
    const { definition } = this.#deps
    if (line.line === 'tick' && !this.#isDelayed(line.raw)) this.#tick(session, opened, line.time)
    if (line.line === 'connected') {
      session.isConnected = line.is
      this.#showConnected()
    }
    if (line.line === 'error') {
      const { number, function: called, raw } = line
      const about = { feed: definition.key, number, function: called, raw }
      const cause = `error ${number} ${called}`
      this.#notices.warn(cause, about, 'function of the terminal failed')
    }
  }

  #apply(session: TerminalSession, opened: Opened, line: TerminalLine): void {
    const feed = this.#deps.definition.key
    switch (line.line) {
      case 'symbol':
        if (!session.addSymbol(line.symbol))
          this.#notices.warn(
            'symbols',
            { feed, symbolsMax },
            'too many symbols in the terminal; the last ones are ignored',
          )
        break
      case 'catalogue':
        this.#list(session, opened, line.count)
        break
      case 'bars':
        this.#bars(line)
        break
      case 'complete':
        this.#wants.complete(line.series, line.span)
        break
      case 'loading':
        if (this.#wants.loading(line.series))
          this.#notices.warn(
            'loading',
            { feed, ...line.series },
            'history not loaded by the terminal yet; retrying',
          )
        break
      case 'beyond':
        if (!this.#isCollected(line.series)) return
        this.#wants.beyond(line.series, line.oldest)
        this.#notices.warn(
          'beyond',
          { feed, ...line.series, oldest: line.oldest },
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
    const { definition, clock } = this.#deps
    const symbols = session.takeSymbols(count, clock.monotonicMs())
    if (!symbols) {
      this.#notices.warn(
        'catalogue',
        { feed: definition.key, count },
        'symbols of the terminal not complete; asking again',
      )
      return
    }
    this.#raws = new Set(symbols.map(({ raw }) => raw))
    const series = this.#resolutions.flatMap((resolution) =>
      [...this.#raws].map((raw) => ({ raw, resolution })),
    )
    this.#catalogue = { ...this.#catalogue, series }
    this.#swept.keepOnly((raw) => this.#raws.has(raw))
    listener.catalogue(
      symbols.map((symbol) => toSourceSymbol(symbol, this.#resolutions)),
      { snapshot: true },
    )
    for (const each of this.#sessions.values()) each.list(this.#catalogue)
  }

  #bars({ series, bars, lastIsOpen }: Line<'bars'>): void {
    if (!this.#isCollected(series)) return
    const last = bars.at(-1)
    const others = this.#wants.take(series, bars, lastIsOpen)
    this.#swept.take(series, others, lastIsOpen && others.at(-1) === last)
  }

  /** Resolves once the bars that have closed with this post are spooled. */
  async #report(session: TerminalSession, opened: Opened, lines: readonly TerminalLine[]): Promise<void> {
    const { listener, ticks } = opened
    const watched = lines.flatMap((line) => {
      if (line.line !== 'watched' || !session.isWhole(line.resolution, line.to, listener)) return []
      const to = this.#swept.watched(line.resolution, line.to, session.tick)
      return [{ resolution: line.resolution, to }]
    })
    const isQuiet = session.isLive && session.isConnected
    const closed = this.#swept.closed(session.tick, isQuiet ? ticks.endedWithoutTick : undefined)
    try {
      if (closed.length > 0) await listener.closed(closed).spooled
    } catch (cause) {
      this.#swept.forget(closed)
      throw new NotTaken('The collector could not write to its disk.', { cause })
    }
    // The sweep goes on from the newest bar that the collector has, so none is ever missed.
    for (const { resolution, to } of watched) listener.watched(resolution, { from: windowFromMin, to })
  }

  #answer(session: TerminalSession, { listener }: Opened): AnswerLine[] {
    if (!listener.takesBars) {
      session.standBy(this.#catalogue)
      return [{ line: 'standby' }]
    }
    const lines = session.lines(listener, this.#deps.clock.monotonicMs())
    return session.isHistory ? [...lines, ...this.#wants.lines] : lines
  }

  #tick(session: TerminalSession, { listener, ticks }: Opened, time: FeedSeconds): void {
    session.tick = time
    if (ticks.take(time)) listener.tick(time)
  }

  #showConnected(): void {
    this.#opened?.listener.connected([...this.#sessions.values()].some(({ isConnected }) => isConnected))
  }

  #isCollected({ raw, resolution }: SourceSeries): boolean {
    return this.#raws.has(raw) && this.#resolutions.includes(resolution)
  }

  #isDelayed(raw: string): boolean {
    return (this.#delays.get(raw) ?? this.#deps.definition.delaySeconds) > 0
  }
}
