import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Cancel } from '../../ports/clock.ts'
import type { FeedState, FeedStates } from '../feed/feed-state.ts'
import { ImportedSymbols } from '../feed/imported-symbols.ts'
import { BackfillIntake, type IntakeDeps, LiveIntake } from '../feed/intake.ts'
import { Liveness } from '../feed/liveness.ts'
import type { IngestMetrics } from '../metrics.ts'
import { Acknowledgements } from './acknowledgements.ts'
import { welcomeOf } from './answers.ts'
import type { CollectorStream } from './collector-stream.ts'
import { InFlight } from './in-flight.ts'
import { knownParts } from './known-parts.ts'
import type { Received } from './receive.ts'
import { SessionBars } from './session-bars.ts'
import { SessionCatalogue } from './session-catalogue.ts'
import { SessionWindows } from './session-windows.ts'

/** Readers that lost events of the bus learn so often that the store shows everything: well before they give up. */
const settleMs = 2_000

export interface Role {
  readonly feed: FeedKey
  readonly isImport: boolean
  readonly rereadable: boolean
  readonly epoch: number | undefined
}

export interface SessionWorkDeps extends IntakeDeps {
  readonly log: Log
  readonly states: FeedStates
}

/** What an active session does: takes the messages of one collector or import, and answers them. */
export class SessionWork {
  readonly #metrics: IngestMetrics
  readonly #log: Log
  readonly #states: FeedStates
  readonly #state: FeedState
  readonly #inFlight: InFlight
  readonly #catalogue: SessionCatalogue
  readonly #bars: SessionBars
  readonly #windows: SessionWindows
  /** `undefined` for an import. */
  readonly #liveness: Liveness | undefined
  readonly #stopSettling: Cancel
  #left = false

  private constructor(role: Role, deps: SessionWorkDeps, stream: CollectorStream, state: FeedState) {
    const { clock, metrics, log } = deps
    this.#metrics = metrics
    this.#log = log
    this.#states = deps.states
    this.#state = state
    const live = new LiveIntake(deps, state, { epoch: role.epoch ?? 0, publishFirst: role.rereadable })
    const backfill = new BackfillIntake(deps, state)
    const imported = role.isImport ? new ImportedSymbols(state.registry) : undefined
    const inFlight = new InFlight(stream, metrics)
    this.#inFlight = inFlight
    this.#catalogue = new SessionCatalogue(log, stream, state, imported)
    const acknowledgements = new Acknowledgements(deps, stream, this.#catalogue)
    const answering = { clock, state, imported, live, inFlight, acknowledgements }
    this.#bars = new SessionBars({ ...answering, metrics, backfill })
    this.#windows = new SessionWindows(answering)
    this.#liveness = role.isImport ? undefined : new Liveness(deps, state)
    this.#stopSettling = role.isImport
      ? () => undefined
      : clock.every(settleMs, () => void live.settled().catch(stream.fail))
  }

  /** Joins the feed and tells the collector what is known of it. */
  static async begin(role: Role, deps: SessionWorkDeps, stream: CollectorStream): Promise<SessionWork> {
    const { state, newest, windows } = await deps.states.join(role.feed, role.isImport ? 'import' : 'live')
    const feed = state.registry.current()
    const feedNow = state.now(feed, deps.clock)
    const { definition } = feed
    stream.send(welcomeOf(definition, { epoch: role.epoch ?? 0, utcMs: deps.clock.utcMs(), feedNow }))
    const known = role.isImport
      ? knownParts(role.feed, new Map(), [])
      : knownParts(role.feed, newest, windows)
    for (const part of known) stream.send({ known: part })
    return new SessionWork(role, deps, stream, state)
  }

  /** So much waits for the store that no more should be read. */
  get isFull(): boolean {
    return this.#inFlight.isFull
  }

  take({ bars, message, digest }: Received): Promise<void> | void {
    if (bars) return this.#bars.take(bars, digest)
    if (!message) return undefined
    if (message.window) return this.#windows.take(message.window, digest)
    if (message.catalogue) return this.#catalogue.take(message.catalogue)
    if (message.heartbeat) this.#liveness?.heartbeat(message.heartbeat)
    if (message.clockSample) this.#liveness?.clockSample(message.clockSample)
    if (message.gap) {
      this.#metrics.alarm('gap')
      this.#log.error({ gap: message.gap }, 'the collector lost history')
    }
    return undefined
  }

  /** Resolves when everything received is committed, or cannot be. */
  settle(): Promise<void> {
    return this.#inFlight.settle()
  }

  leave(): void {
    if (!this.#left) this.#states.leave(this.#state)
    if (!this.#left) this.#liveness?.end()
    this.#left = true
    this.#stopSettling()
  }
}
