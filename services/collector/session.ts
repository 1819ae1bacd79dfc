import type { FeedDefinition } from '../core/feed.ts'
import type { FeedSeconds } from '../core/feed-clock.ts'
import type { Resolution } from '../core/resolution.ts'
import type { Span } from '../core/window.ts'
import type { Log } from '../platform/log.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClientIdentity } from '../wire/client.ts'
import { heartbeatMs } from '../wire/limits.ts'
import { ActiveSession } from './active-session.ts'
import { Backoff } from './backoff.ts'
import { Conversation } from './conversation.ts'
import { FeedTime } from './feed-time.ts'
import type { Source, SourceBars, SourceListener, SourceSeries, SourceSymbol } from './source.ts'
import { SourceCatalogue } from './source-catalogue.ts'
import { Stamps } from './stamps.ts'

export interface CollectorOptions {
  readonly definition: FeedDefinition
  readonly source: Source
  /** host:port of ingest; asked for at each connection, since there may be several to be tried in turn. */
  readonly address: () => string
  /** Asked for at each connection. */
  readonly identity: () => ClientIdentity
  readonly clock: Clock
  readonly log: Log
  /** Ends the collector: what is under way is still acknowledged. */
  readonly signal: AbortSignal
}

/** A session that lasted so long was a good one: the next pause is short again. */
const steadyMs = 60_000
const terminalLengthMax = 128

/**
 * Collects one feed from one source until the signal aborts; never rejects. A session that ends, for
 * whatever reason, is begun again after a pause, and goes on where ingest's store ends.
 */
export function runCollector(options: CollectorOptions): Promise<void> {
  return new Collector(options).run()
}

class Collector implements SourceListener {
  readonly #options: CollectorOptions
  readonly #id: string
  readonly #log: Log
  readonly #catalogue = new SourceCatalogue()
  readonly #stamps: Stamps
  readonly #time: FeedTime
  #isConnected = true
  #active: ActiveSession | undefined

  constructor(options: CollectorOptions) {
    const { clock, definition } = options
    this.#options = options
    this.#id = `collector-${clock.randomHex(4)}`
    this.#log = options.log.child({ feed: definition.key, collector: this.#id })
    this.#stamps = new Stamps(clock)
    this.#time = new FeedTime(definition.clock, clock)
  }

  async run(): Promise<void> {
    const { signal, source } = this.#options
    let isOpen = false
    await this.#repeat(async () => {
      if (!isOpen) await source.open(this, signal)
      isOpen = true
      return this.#converse()
    })
  }

  /** Again and again, after pauses with jitter, until the signal aborts. */
  async #repeat(run: () => Promise<void>): Promise<void> {
    const { signal, clock } = this.#options
    const pauses = new Backoff(clock)
    while (!signal.aborted) {
      const begunMs = clock.monotonicMs()
      try {
        await run()
      } catch (cause) {
        if (!signal.aborted) this.#log.error({ err: cause }, 'collecting failed')
      }
      if (clock.monotonicMs() - begunMs > steadyMs) pauses.reset()
      await clock.sleep(pauses.nextMs(), signal)
    }
  }

  /** One session, from Hello to its end. */
  async #converse(): Promise<void> {
    const { clock, signal, definition, source, address, identity } = this.#options
    const talk = new Conversation({
      address: address(),
      identity: identity(),
      clock,
      hello: {
        feed: definition.key,
        collectorId: this.#id,
        mode: 'SESSION_MODE_LIVE',
        terminal: source.terminal.slice(0, terminalLengthMax),
        capabilities: source.capabilities.rereadable ? ['CAPABILITY_REREADABLE'] : [],
      },
    })
    const over = new AbortController()
    const close = (): void => void talk.close()
    signal.addEventListener('abort', close)
    talk.onStandby = () => this.#log.info('stands by: another collector is active')
    const stopBeating = clock.every(heartbeatMs, () => this.#beat(talk))
    talk.greeting.then(
      (greeting) => {
        this.#log.info({ epoch: greeting.welcome.epoch }, 'collecting')
        this.#stamps.offsetMs = this.#time.offsetMs = greeting.offsetMs
        this.#active = new ActiveSession({
          ...this.#options,
          talk,
          greeting,
          log: this.#log,
          time: this.#time,
          stamps: this.#stamps,
          catalogue: this.#catalogue,
          signal: AbortSignal.any([signal, over.signal]),
        })
        this.#beat(talk)
      },
      // `ended` tells why.
      () => undefined,
    )
    const end = await talk.ended
    this.#active = undefined
    over.abort()
    stopBeating()
    signal.removeEventListener('abort', close)
    if (!signal.aborted)
      this.#log.warn({ code: end.code, why: end.message }, 'the session ended; connecting again')
  }

  #beat(talk: Conversation): void {
    const { newestTick } = this.#time
    talk.heartbeat({
      terminalConnected: this.#isConnected,
      spooledBars: 0,
      ...(newestTick !== undefined && { newestTick }),
    })
  }

  catalogue(symbols: readonly SourceSymbol[], snapshot: boolean): void {
    this.#catalogue.take(symbols, snapshot)
    this.#active?.list(
      symbols.map((symbol) => this.#catalogue.get(symbol.raw) ?? symbol),
      snapshot,
    )
  }

  closed(batch: readonly SourceBars[]): void {
    this.#active?.collection.closed(batch)
  }

  complete(series: SourceSeries, span: Span): void {
    this.#active?.collection.complete(series, span)
  }

  watched(resolution: Resolution, span: Span): void {
    this.#active?.collection.watched(resolution, span)
  }

  again(series: SourceSeries, span: Span): void {
    this.#active?.collection.again(series, span)
  }

  tick(newest: FeedSeconds): void {
    this.#time.tick(newest)
  }

  connected(is: boolean): void {
    this.#isConnected = is
  }
}
