import type { FeedDefinition } from '../core/feeds/feed.ts'
import { Backoff, reconnectMaxMs } from '../platform/backoff.ts'
import type { Log } from '../platform/log/log.ts'
import type { Cancel, Clock } from '../ports/clock.ts'
import type { ClientIdentity } from '../wire/client.ts'
import { heartbeatMs } from '../wire/limits.ts'
import type { Dial } from './connection/dial.ts'
import { type Greeting, SessionClient } from './connection/session-client.ts'
import { ActiveSession } from './feed/active-session.ts'
import { ClosedBars } from './feed/closed-bars.ts'
import { Collection } from './feed/collection.ts'
import { FeedTime } from './feed/feed-time.ts'
import { SourceRelay } from './feed/source-relay.ts'
import type { FeedMetrics } from './metrics.ts'
import { BarRouter } from './series/bar-router.ts'
import { formingCheckMs } from './series/forming.ts'
import { Revisions } from './series/revisions.ts'
import { type Source, SourceFault } from './source.ts'
import type { Spool } from './spool/spool.ts'

export interface CollectorDeps {
  readonly definition: FeedDefinition
  readonly source: Source
  /** Returns host:port of ingest. Called for each connection, because several ingests may be tried in sequence. */
  readonly address: () => string
  /** Called for each connection. */
  readonly identity: () => ClientIdentity
  readonly dial?: Dial | undefined
  readonly clock: Clock
  readonly log: Log
  /**
   * An open spool for this feed only. The caller closes it after the collector has ended. Without a spool,
   * the end of a session loses unacknowledged bars that the source cannot return again.
   */
  readonly spool?: Spool | undefined
  readonly metrics?: FeedMetrics | undefined
  /** Ends the collector. Batches in flight are still acknowledged. */
  readonly signal: AbortSignal
}

/** Minimum duration of a stable session; after it the next pause is short again. */
const stableSessionMs = 60_000
const terminalLengthMax = 128
/** Time on standby in which bars are still spooled. After it, only the active collector keeps new bars. */
const standbyBufferMs = 60_000

/**
 * Collects one feed from one source until the signal aborts; never rejects. After each session, it pauses and
 * starts another one, whatever ended the session. A session continues after the bars that ingest has stored.
 */
export function runCollector(deps: CollectorDeps): Promise<void> {
  return new Collector(deps).run()
}

class Collector {
  readonly #deps: CollectorDeps
  readonly #id: string
  readonly #log: Log
  readonly #time: FeedTime
  readonly #router: BarRouter
  readonly #bars: ClosedBars
  readonly #relay: SourceRelay

  constructor(deps: CollectorDeps) {
    const { clock, definition, spool } = deps
    this.#deps = deps
    this.#id = `collector-${clock.randomHex(4)}`
    this.#log = deps.log.child({ feed: definition.key, collector: this.#id })
    this.#time = new FeedTime(definition.clock, clock)
    this.#router = new BarRouter({ revisions: new Revisions(this.#time), log: this.#log })
    this.#bars = new ClosedBars({ spool, router: this.#router, time: this.#time })
    this.#relay = new SourceRelay(this.#time, this.#bars)
  }

  async run(): Promise<void> {
    const { signal, clock, source, spool, metrics } = this.#deps
    let isOpen = false
    const unwatch = metrics?.watch(() => ({
      spool,
      isActive: this.#relay.isActive,
      tickAgeMs: this.#time.tickAgeMs,
      readjustedSymbols: this.#relay.readjustments.symbols,
    }))
    const stopReleasing = clock.every(formingCheckMs, () => this.#bars.release())
    signal.addEventListener('abort', stopReleasing)
    await this.#repeat(async () => {
      if (!isOpen) {
        await source.open(this.#relay, signal)
        isOpen = true
        if (source.capabilities.live) this.#time.noteActivity()
      }
      // A session that begins after the end of the collector would never be closed.
      if (!signal.aborted) await this.#runSession()
    })
    stopReleasing()
    unwatch?.()
  }

  /** Repeats `run` after pauses with jitter until the signal aborts. */
  async #repeat(run: () => Promise<void>): Promise<void> {
    const { signal, clock } = this.#deps
    const pauses = new Backoff(clock, { maxMs: reconnectMaxMs })
    let lastFault = ''
    while (!signal.aborted) {
      const begunMs = clock.monotonicMs()
      try {
        await run()
      } catch (cause) {
        const fault = cause instanceof SourceFault ? cause.message : ''
        if (!signal.aborted && fault === '')
          this.#log.error({ err: cause }, 'failed to open the source or to run a session; retrying')
        else if (!signal.aborted && fault !== lastFault)
          this.#log.error({ why: fault }, 'failed to open the source; retrying')
        lastFault = fault
      }
      if (clock.monotonicMs() - begunMs > stableSessionMs) pauses.reset()
      await clock.sleep(pauses.nextMs(), signal)
    }
  }

  async #runSession(): Promise<void> {
    const { clock, signal, definition, source, address, identity, spool, dial, metrics } = this.#deps
    const isKept = source.capabilities.rereadable || spool !== undefined
    const client = new SessionClient({
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
    const close = (): void => void client.close()
    signal.addEventListener('abort', close)
    let endStandby: Cancel = () => undefined
    client.onStandby = ({ terminalIdentity }) => {
      source.pin?.told(terminalIdentity)
      endStandby = this.#standBy()
    }
    const stopHeartbeats = clock.every(heartbeatMs, () => this.#sendHeartbeat(client))
    client.greeting.then(
      (greeting) => {
        // The end of a session that begins later could not stop its timers.
        if (signal.aborted) return
        this.#log.info({ epoch: greeting.welcome.epoch }, 'collecting')
        endStandby()
        source.pin?.told(greeting.welcome.terminalIdentity)
        metrics?.sessionBegan()
        this.#relay.session = this.#startActiveSession(client, greeting)
        this.#sendHeartbeat(client)
      },
      // `ended` has the reason.
      () => undefined,
    )
    const end = await client.ended
    endStandby()
    this.#relay.end()
    metrics?.sessionEnded()
    stopHeartbeats()
    signal.removeEventListener('abort', close)
    if (!signal.aborted)
      this.#log.warn({ code: end.code, why: end.message }, 'session with ingest ended; retrying')
  }

  #startActiveSession(client: SessionClient, greeting: Greeting): ActiveSession {
    this.#time.offsetMs = greeting.offsetMs
    const { changed, readjustments, symbols } = this.#relay
    readjustments.welcomed(greeting.welcome.backfillVersion)
    const shared = {
      ...this.#deps,
      client,
      bars: this.#bars,
      changed,
      log: this.#log,
      readjustments,
      router: this.#router,
      time: this.#time,
      signal: AbortSignal.any([this.#deps.signal, client.signal]),
    }
    return new ActiveSession({
      ...shared,
      greeting,
      catalogue: symbols,
      startCollection: () => new Collection(shared),
    })
  }

  #standBy(): Cancel {
    this.#log.info('standing by: another collector is active')
    // The lease of a crashed ingest expires within this time. Until then, no other collector has these bars.
    return this.#deps.clock.after(standbyBufferMs, () => {
      this.#bars.clear()
      this.#deps.spool?.handOver()
    })
  }

  #sendHeartbeat(client: SessionClient): void {
    const { newestTick } = this.#time
    const { source, spool } = this.#deps
    const spooled = spool?.depth
    const rejectedLines = source.rejectedLines?.()
    const terminalIdentity = source.pin?.identity
    client.heartbeat({
      terminalConnected: this.#relay.isConnected,
      ...(spooled && { spooledBars: spooled.bars, spoolAgeSeconds: Math.floor(spooled.ageMs / 1_000) }),
      ...(newestTick !== undefined && { newestTick }),
      ...(rejectedLines !== undefined && { rejectedLines }),
      ...(terminalIdentity !== undefined && { terminalIdentity }),
      ...(source.capabilities.readjusts && {
        readjustedSymbols: this.#relay.readjustments.symbols,
        readjustmentsHeld: this.#relay.readjustments.isHeld,
      }),
    })
  }
}
