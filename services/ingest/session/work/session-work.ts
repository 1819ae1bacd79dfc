import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import { show } from '../../../core/show.ts'
import { LimitedLog } from '../../../platform/log/limited-log.ts'
import type { Cancel } from '../../../ports/clock.ts'
import type { Stores } from '../../../ports/stores.ts'
import type { Gap__Output } from '../../../wire/gen/fxd/v1/Gap.ts'
import { BackfillIntake } from '../../feed/backfill-intake.ts'
import type { FeedState, FeedStates } from '../../feed/feed-state.ts'
import { ImportedSymbols } from '../../feed/imported-symbols.ts'
import { Liveness, type LivenessDeps } from '../../feed/liveness.ts'
import type { IngestMetrics } from '../../metrics.ts'
import { SessionEnd } from '../../session-end.ts'
import type { CollectorStream } from '../stream/collector-stream.ts'
import type { Received } from '../stream/receive.ts'
import { Acknowledgements } from './acknowledgements.ts'
import { welcomeOf } from './answers.ts'
import { InFlight } from './in-flight.ts'
import { knownParts } from './known-parts.ts'
import { SessionBars } from './session-bars.ts'
import { SessionCatalogue } from './session-catalogue.ts'
import { SessionWindows } from './session-windows.ts'

/** Interval of `settled` events. Readers that lost bus events need one before they give up. */
const settleMs = 2_000

export interface WorkOptions {
  readonly feed: FeedKey
  readonly isImport: boolean
  readonly rereadable: boolean
  /** The epoch of the lease; 0 for an import. */
  readonly epoch: number
}

export interface SessionWorkDeps extends LivenessDeps {
  readonly stores: Pick<Stores, 'bars'>
  readonly states: FeedStates
}

/** The work of an active session: processes the messages of one collector or import. */
export class SessionWork {
  /** Lines that the collector causes. */
  readonly #log: LimitedLog
  readonly #states: FeedStates
  readonly #state: FeedState
  readonly #inFlight: InFlight
  readonly #catalogue: SessionCatalogue
  readonly #bars: SessionBars
  readonly #windows: SessionWindows
  /** `undefined` for an import. */
  readonly #liveness: Liveness | undefined
  readonly #noteGap: (gap: Gap__Output) => void
  readonly #throttle: () => void
  readonly #stopSettling: Cancel
  /** Aborts when the session leaves: history and catalogues that wait come again. */
  readonly #left = new AbortController()
  #hasLeft = false

  private constructor(
    options: WorkOptions,
    deps: SessionWorkDeps,
    stream: CollectorStream,
    state: FeedState,
  ) {
    const { clock, metrics } = deps
    const { isImport, rereadable, epoch } = options
    const store = deps.stores.bars
    const log = new LimitedLog(deps.log, clock)
    this.#log = log
    this.#states = deps.states
    this.#state = state
    state.epoch = Math.max(state.epoch, epoch)
    this.#throttle = () => stream.throttle(this.isFull)
    const { signal } = this.#left
    const backfill = new BackfillIntake({ store, clock, signal }, state)
    const imported = isImport ? new ImportedSymbols(state.registry) : undefined
    const inFlight = new InFlight({ stream, metrics, throttle: this.#throttle })
    this.#inFlight = inFlight
    this.#catalogue = new SessionCatalogue({ clock, signal, log, stream, state, imported })
    const acknowledgements = new Acknowledgements({ metrics, log }, stream, this.#catalogue)
    const answering = { clock, metrics, state, imported, inFlight, acknowledgements }
    const isPartitioned = store.isPartitioned ?? false
    this.#bars = new SessionBars({ ...answering, rereadable, backfill, isPartitioned })
    this.#windows = new SessionWindows({ ...answering, log })
    this.#liveness = isImport ? undefined : new Liveness(deps, state)
    this.#noteGap = (gap) => noteGap(gap, metrics, log)
    this.#stopSettling = isImport
      ? () => undefined
      : clock.every(settleMs, () => void this.#settled().catch(stream.fail))
  }

  /** Joins the feed and sends the collector what is stored of it: Welcome, then Known. */
  static async begin(
    options: WorkOptions,
    deps: SessionWorkDeps,
    stream: CollectorStream,
    signal: AbortSignal,
  ): Promise<SessionWork> {
    const mode = options.isImport ? 'import' : 'live'
    const { state, newest, windows } = await deps.states.join(options.feed, mode, signal)
    try {
      const feed = state.registry.current()
      const feedNow = state.now(feed, deps.clock)
      const { definition, view } = feed
      const terminalIdentity = view.terminals.get(definition.key)
      const at = { epoch: options.epoch, utcMs: deps.clock.utcMs(), feedNow, terminalIdentity }
      stream.send(welcomeOf(definition, at, view.backfills.get(options.feed) ?? 0))
      const known = options.isImport
        ? knownParts(options.feed, new Map(), new Map())
        : knownParts(options.feed, newest, windows)
      for (const part of known) stream.send({ known: part })
      return new SessionWork(options, deps, stream, state)
    } catch (cause) {
      // The feed was removed while it was joined.
      deps.states.leave(state)
      throw cause
    }
  }

  /** True while so much waits for the store that reading should pause. */
  get isFull(): boolean {
    return this.#inFlight.isFull || (this.#liveness !== undefined && this.#state.live.isFull(this.#throttle))
  }

  take({ bars, message, digest }: Received): Promise<void> | void {
    if (bars) return this.#bars.take(bars, digest)
    if (!message) return undefined
    if (message.window) return this.#windows.take(message.window, digest)
    if (message.catalogue) return this.#catalogue.take(message.catalogue)
    if (message.heartbeat) this.#liveness?.heartbeat(message.heartbeat)
    if (message.clockSample) this.#liveness?.clockSample(message.clockSample)
    if (message.gap) this.#noteGap(message.gap)
    return undefined
  }

  /** Resolves when every received message is committed or has failed. Waits for messages that wait for their turn. */
  finish(): Promise<void> {
    return this.#inFlight.settle()
  }

  /** Resolves when every received message is committed or has failed. Messages that wait for their turn fail immediately. */
  settle(): Promise<void> {
    this.#bars.stopWaiting()
    return this.#inFlight.settle()
  }

  /** Resolves when nothing of a feed that was hidden is written any more; at once for any other feed. */
  async dropped(): Promise<void> {
    const { dropping } = this.#state
    if (dropping === undefined) return
    this.#stop()
    await Promise.all([dropping, this.#inFlight.settle()])
  }

  /** Leaves the feed; a second call does nothing. Live bars that wait for the store stay with the feed. */
  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#stop()
    this.#states.leave(this.#state)
    this.#liveness?.end()
    this.#log.flush()
    this.#stopSettling()
  }

  /** Without an Ack the collector sends these bars again. */
  #stop(): void {
    this.#bars.stopWaiting()
    this.#left.abort(new SessionEnd('UNAVAILABLE', 'the session ended before its history was stored'))
  }

  async #settled(): Promise<void> {
    if (this.isFull) this.#liveness?.unread()
    // Rows of history may have filled the process, too: nothing else tells when they are stored.
    this.#throttle()
    await this.#state.live.settled()
  }
}

function noteGap(gap: Gap__Output, metrics: IngestMetrics, log: LimitedLog): void {
  const { symbol, resolution, from, to, reason } = gap
  metrics.alarm('gap')
  log.write(
    'error',
    { symbol: show(symbol), resolution: show(resolution), from, to, reason: show(reason) },
    'the collector lost history; its bars are missing',
  )
}
