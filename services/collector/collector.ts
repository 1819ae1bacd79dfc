import type { Span } from '../core/bars/window.ts'
import type { FeedSeconds } from '../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { Resolution } from '../core/feeds/resolution.ts'
import { Backoff, reconnectMaxMs } from '../platform/backoff.ts'
import type { Log } from '../platform/log/log.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClientIdentity } from '../wire/client.ts'
import { heartbeatMs } from '../wire/limits.ts'
import type { Dial } from './connection/dial.ts'
import { SessionClient } from './connection/session-client.ts'
import { ActiveSession } from './feed/active-session.ts'
import { FeedTime } from './feed/feed-time.ts'
import { OfflineBuffer } from './feed/offline-buffer.ts'
import { SourceCatalogue } from './feed/source-catalogue.ts'
import type { CollectorMetrics, CollectorSigns, FeedMetrics } from './metrics.ts'
import type { CollectedSeries } from './series/collected-series.ts'
import { Stamps } from './series/stamps.ts'
import {
  type Listing,
  type Source,
  type SourceBars,
  SourceFault,
  type SourceListener,
  type SourceSeries,
  type SourceSymbol,
} from './sources/source.ts'
import type { Spool } from './spool/spool.ts'

export interface CollectorDeps {
  readonly definition: FeedDefinition
  readonly source: Source
  /** host:port of ingest; asked for at each connection, since there may be several to be tried in turn. */
  readonly address: () => string
  /** Asked for at each connection. */
  readonly identity: () => ClientIdentity
  /** Default: gRPC. */
  readonly dial?: Dial | undefined
  readonly clock: Clock
  readonly log: Log
  /**
   * Of this feed alone, open; whoever opened it closes it after the collector's end. Without one nothing
   * outlives a session but what the source can be asked for again.
   */
  readonly spool?: Spool | undefined
  readonly metrics?: CollectorMetrics | undefined
  /** Ends the collector: what is under way is still acknowledged. */
  readonly signal: AbortSignal
}

/** A session that lasted so long was a good one: the next pause is short again. */
const steadyMs = 60_000
const terminalLengthMax = 128
/** Standing by for longer, another collector is the active one: what closes is its to keep. */
const standbyKeptMs = 60_000

/**
 * Collects one feed from one source until the signal aborts; never rejects. A session that ends, for
 * whatever reason, is begun again after a pause, and goes on where ingest's store ends.
 */
export function runCollector(deps: CollectorDeps): Promise<void> {
  return new Collector(deps).run()
}

class Collector implements SourceListener {
  readonly #deps: CollectorDeps
  readonly #id: string
  readonly #log: Log
  readonly #catalogue = new SourceCatalogue()
  readonly #stamps: Stamps
  readonly #time: FeedTime
  readonly #metrics: FeedMetrics | undefined
  #isConnected = true
  #tickedMs: number | undefined
  #active: ActiveSession | undefined
  /** Since the last active session ended. */
  #offlineBuffer: OfflineBuffer | undefined

  constructor(deps: CollectorDeps) {
    const { clock, definition, metrics } = deps
    this.#deps = deps
    this.#id = `collector-${clock.randomHex(4)}`
    this.#log = deps.log.child({ feed: definition.key, collector: this.#id })
    this.#stamps = new Stamps(clock)
    this.#time = new FeedTime(definition.clock, clock)
    this.#metrics = metrics?.of(definition.key)
  }

  async run(): Promise<void> {
    const { signal, source } = this.#deps
    let isOpen = false
    const unwatch = this.#metrics?.watch(() => this.#signs())
    await this.#repeat(async () => {
      if (!isOpen) await source.open(this, signal)
      isOpen = true
      return this.#converse()
    })
    this.#leaveAway()
    unwatch?.()
  }

  /** Again and again, after pauses with jitter, until the signal aborts. */
  async #repeat(run: () => Promise<void>): Promise<void> {
    const { signal, clock } = this.#deps
    const pauses = new Backoff(clock, { maxMs: reconnectMaxMs })
    let told = ''
    while (!signal.aborted) {
      const begunMs = clock.monotonicMs()
      try {
        await run()
      } catch (cause) {
        const fault = cause instanceof SourceFault ? cause.message : ''
        if (!signal.aborted && fault === '') this.#log.error({ err: cause }, 'collecting failed')
        else if (!signal.aborted && fault !== told) this.#log.error(`${fault}; it is tried again`)
        told = fault
      }
      if (clock.monotonicMs() - begunMs > steadyMs) pauses.reset()
      await clock.sleep(pauses.nextMs(), signal)
    }
  }

  /** One session, from Hello to its end. */
  async #converse(): Promise<void> {
    const { clock, signal, definition, source, address, identity, spool, dial } = this.#deps
    const isKept = source.capabilities.rereadable || spool !== undefined
    const talk = new SessionClient({
      address: address(),
      identity: identity(),
      clock,
      dial,
      hello: {
        feed: definition.key,
        collectorId: this.#id,
        mode: 'SESSION_MODE_LIVE',
        terminal: source.terminal.slice(0, terminalLengthMax),
        capabilities: isKept ? ['CAPABILITY_REREADABLE'] : [],
      },
    })
    const over = new AbortController()
    const close = (): void => void talk.close()
    signal.addEventListener('abort', close)
    talk.onStandby = () => this.#standBy(over.signal)
    const stopBeating = clock.every(heartbeatMs, () => this.#beat(talk))
    talk.greeting.then(
      (greeting) => {
        this.#log.info({ epoch: greeting.welcome.epoch }, 'collecting')
        this.#metrics?.sessionBegan()
        this.#stamps.offsetMs = this.#time.offsetMs = greeting.offsetMs
        this.#active = new ActiveSession({
          ...this.#deps,
          metrics: this.#metrics,
          talk,
          greeting,
          log: this.#log,
          time: this.#time,
          stamps: this.#stamps,
          catalogue: this.#catalogue,
          takeOver: () => this.#leaveAway(),
          signal: AbortSignal.any([signal, over.signal]),
        })
        this.#beat(talk)
      },
      // `ended` tells why.
      () => undefined,
    )
    const end = await talk.ended
    const live = this.#active?.collection.live
    this.#active = undefined
    over.abort()
    if (spool && live && !this.#offlineBuffer && !signal.aborted)
      this.#offlineBuffer = new OfflineBuffer({
        ...this.#deps,
        log: this.#log,
        spool,
        series: live,
        time: this.#time,
        stamps: this.#stamps,
      })
    this.#metrics?.sessionEnded()
    stopBeating()
    signal.removeEventListener('abort', close)
    if (!signal.aborted)
      this.#log.warn({ code: end.code, why: end.message }, 'the session ended; connecting again')
  }

  #standBy(over: AbortSignal): void {
    this.#log.info('stands by: another collector is active')
    // The lease of an ingest that is gone lapses sooner: until then nobody else keeps what closes.
    const cancel = this.#deps.clock.after(standbyKeptMs, () => {
      this.#leaveAway()
      this.#deps.spool?.handOver()
    })
    over.addEventListener('abort', cancel)
  }

  /** Gives the series of which nothing was missed. */
  #leaveAway(): readonly CollectedSeries[] {
    const series = this.#offlineBuffer?.series ?? []
    this.#offlineBuffer?.stop()
    this.#offlineBuffer = undefined
    return series
  }

  #signs(): CollectorSigns {
    const { clock, spool } = this.#deps
    const tickAgeMs = this.#tickedMs === undefined ? undefined : clock.monotonicMs() - this.#tickedMs
    const { droppedBars = 0, failures = 0, unreadableBytes = 0 } = spool ?? {}
    return {
      spool: spool && { ...spool.depth, droppedBars, failures, unreadableBytes },
      isActive: this.#active !== undefined,
      isTerminalConnected: this.#isConnected,
      tickAgeSeconds: tickAgeMs === undefined ? undefined : tickAgeMs / 1_000,
    }
  }

  #beat(talk: SessionClient): void {
    const { newestTick } = this.#time
    talk.heartbeat({
      terminalConnected: this.#isConnected,
      spooledBars: this.#deps.spool?.depth.bars ?? 0,
      ...(newestTick !== undefined && { newestTick }),
    })
  }

  catalogue(symbols: readonly SourceSymbol[], listing: Listing): void {
    this.#catalogue.take(symbols, listing)
    this.#active?.list(
      symbols.map((symbol) => this.#catalogue.get(symbol.raw) ?? symbol),
      listing,
    )
  }

  closed(batch: readonly SourceBars[]): void {
    const keeper = this.#offlineBuffer ?? this.#active?.collection
    keeper?.closed(batch)
  }

  complete(series: SourceSeries, span: Span): void {
    this.#active?.collection.complete(series, span)
  }

  watched(resolution: Resolution, span: Span): void {
    const keeper = this.#offlineBuffer ?? this.#active?.collection
    keeper?.watched(resolution, span)
  }

  leftOut(series: SourceSeries, spans: readonly Span[]): void {
    this.#active?.collection.leftOut(series, spans)
  }

  again(series: SourceSeries, span: Span): void {
    this.#offlineBuffer?.drop(series)
    this.#active?.collection.again(series, span)
  }

  tick(newest: FeedSeconds): void {
    this.#tickedMs = this.#deps.clock.monotonicMs()
    this.#time.tick(newest)
  }

  connected(is: boolean): void {
    this.#isConnected = is
  }
}
