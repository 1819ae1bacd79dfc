import { type StatusObject, status } from '@grpc/grpc-js'
import { type RefusalReason, refusalReasons } from '../../core/bars/bar-rules.ts'
import { type Span, windowFromMin } from '../../core/bars/window.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import { type EncodedSeries, encodeBars, type WireLane } from '../../wire/encode-bars.ts'
import type { CatalogueSymbol } from '../../wire/gen/fxd/v1/CatalogueSymbol.ts'
import type { Gap } from '../../wire/gen/fxd/v1/Gap.ts'
import type { Heartbeat } from '../../wire/gen/fxd/v1/Heartbeat.ts'
import type { Hello } from '../../wire/gen/fxd/v1/Hello.ts'
import type { IngestMessage__Output } from '../../wire/gen/fxd/v1/IngestMessage.ts'
import type { KnownSeries__Output } from '../../wire/gen/fxd/v1/KnownSeries.ts'
import type { RefusedBar__Output } from '../../wire/gen/fxd/v1/RefusedBar.ts'
import type { Welcome__Output } from '../../wire/gen/fxd/v1/Welcome.ts'
import type { Listing } from '../source.ts'
import { type Catalogued, catalogueParts } from './catalogue-parts.ts'
import { type CallStream, type Dial, dialGrpc, type Outgoing, type Peer } from './dial.ts'

export interface SessionClientDeps extends Peer {
  readonly hello: Hello
  readonly clock: Clock
  readonly dial?: Dial | undefined
}

export interface Greeting {
  readonly welcome: Welcome__Output
  readonly known: readonly KnownSeries__Output[]
  /** Ingest's clock minus the local clock. */
  readonly offsetMs: number
}

/** The result of one batch or window, after its commit. */
export interface Answer {
  readonly accepted: number
  readonly revised: number
  readonly unchanged: number
  /** Absent from an older ingest. */
  readonly sameRatio?: number
  readonly refused: readonly RefusedBar__Output[]
}

/** The number of refused bars; one entry may be many bars. */
export const refusedBars = (refused: Answer['refused']): number =>
  refused.reduce((sum, { count }) => sum + count, 0)

const knownReasons = new Map(refusalReasons.map((reason) => [`REFUSAL_REASON_${reason}`, reason]))

/** The reason of a refused bar. A reason that this version does not know counts as malformed. */
export const reasonOf = (wire: string): RefusalReason => knownReasons.get(wire) ?? 'MALFORMED'

/** The session has ended: `code` is the gRPC status, the message comes from ingest. */
export class Disconnected extends Error {
  readonly code: string
  constructor(code: string, details: string) {
    super(details === '' ? code : details)
    this.code = code
  }
}

interface ClaimedWindow extends Span {
  /** Clean name; empty: the whole feed. */
  readonly symbol: string
  readonly resolution: Resolution
}

interface Pending<T> {
  readonly resolve: (value: T) => void
  readonly reject: (cause: Error) => void
}

/**
 * Timeout of the greeting. Ingest releases a lease within 5 s, and reads the feed's windows within 15 s. An ingest that
 * does not know the feed waits for the store: then another one may know it.
 */
export const greetingTimeoutMs = 60_000
/** Timeout for the peer to end a closed stream; after it the stream is cancelled. */
const closeTimeoutMs = 5_000

/** The client of one session: sends Hello, numbers the messages, and matches the answers to them. */
export class SessionClient {
  onStandby: (welcome: Welcome__Output) => void = () => undefined
  /** Called when ingest requests a pause of the backfill lane. */
  onSlow: (pauseMs: number) => void = () => undefined

  readonly #stream: CallStream
  readonly #clock: Clock
  readonly #cancelGreeting: Cancel
  readonly #batches = new Map<number, Pending<Answer> & { refused: RefusedBar__Output[] }>()
  readonly #catalogues = new Map<number, Pending<Catalogued> & Catalogued>()
  readonly #known: KnownSeries__Output[] = []
  readonly #greeted = Promise.withResolvers<Greeting>()
  readonly #ended = Promise.withResolvers<Disconnected>()
  readonly #over = new AbortController()
  /** Rejects with `Disconnected` when the session ends before its first active Welcome. */
  readonly greeting = this.#greeted.promise
  /** How the session ended; never rejects. */
  readonly ended = this.#ended.promise
  /** Aborts with the session, before its calls reject. */
  readonly signal = this.#over.signal
  #welcome: { message: Welcome__Output; offsetMs: number } | undefined
  #sequence = 0
  #revision = 0
  #isClosing = false
  #cancelCause: Disconnected | undefined

  constructor({ address, identity, hello, clock, dial = dialGrpc }: SessionClientDeps) {
    this.#clock = clock
    this.greeting.catch(() => undefined)
    this.#stream = dial(
      { address, identity },
      { received: (message) => this.#receive(message), over: (end) => this.#finish(end) },
    )
    this.#stream.send({ hello })
    this.#cancelGreeting = clock.after(greetingTimeoutMs, () => this.#timeOut())
  }

  /** Live bars of the feed that ingest accepts without an Ack; `undefined` before Welcome, and of an older ingest. */
  get unackedBarsMax(): number | undefined {
    return this.#welcome?.message.unackedBarsMax
  }

  get #isClosed(): boolean {
    return this.#isClosing || this.signal.aborted
  }

  /** Resolves with the accepted names and the refusals, once they are in effect. */
  catalogue(symbols: readonly CatalogueSymbol[], listing: Listing): Promise<Catalogued> {
    this.#revision += 1
    const revision = this.#revision
    return this.#expect((pending) => {
      this.#catalogues.set(revision, { ...pending, names: [], refused: [] })
      for (const part of catalogueParts(revision, symbols, listing)) this.#stream.send({ catalogue: part })
    })
  }

  /** Sends one message (see `packBars`); resolves at its Ack. */
  bars(lane: WireLane, series: readonly EncodedSeries[]): Promise<Answer> {
    const sequence = this.#sequence + 1
    return this.#post(sequence, encodeBars(sequence, lane, series))
  }

  /** Resolves at its Ack. A window from 0 is sent from 1 s, because ingest reads 0 as an unset `from`. */
  window({ symbol, resolution, from, to }: ClaimedWindow): Promise<Answer> {
    const sequence = this.#sequence + 1
    const window = { sequence, symbol, resolution, from: Math.max(from, windowFromMin), to }
    return this.#post(sequence, { window })
  }

  heartbeat(heartbeat: Heartbeat): void {
    if (!this.#isClosed) this.#stream.send({ heartbeat })
  }

  /** Reports lost bars; has no answer. The Ack of a later batch proves that ingest received the report. */
  gap(gap: Gap): void {
    if (!this.#isClosed) this.#stream.send({ gap })
  }

  /** Ends the session after all messages in flight were answered. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#stream.end()
    const closed = new AbortController()
    const timeout = this.#clock.sleep(closeTimeoutMs, closed.signal).then(() => this.cancel())
    await this.ended
    closed.abort()
    await timeout
  }

  /** Ends the session at once. `cause`: the reason that the log states; of several the first one. */
  cancel(cause?: Disconnected): void {
    this.#cancelCause ??= cause
    this.#stream.cancel()
  }

  #post(sequence: number, message: Outgoing): Promise<Answer> {
    return this.#expect((pending) => {
      this.#sequence = sequence
      this.#batches.set(sequence, { ...pending, refused: [] })
      this.#stream.send(message)
    })
  }

  #expect<T>(send: (pending: Pending<T>) => void): Promise<T> {
    if (this.#isClosed) {
      const end = this.signal.reason as Disconnected | undefined
      return Promise.reject(end ?? new Disconnected('CANCELLED', 'the session is closing'))
    }
    const expected = new Promise<T>((resolve, reject) => send({ resolve, reject }))
    // Callers that wait get the rejection; the others learn of it by the session's end.
    expected.catch(() => undefined)
    return expected
  }

  #receive(message: IngestMessage__Output): void {
    const { welcome, known, catalogued, ack, refused, slow } = message
    if (welcome) this.#takeWelcome(welcome)
    if (known) this.#takeKnown(known.series, known.last)
    if (catalogued) {
      const { revision, last } = catalogued
      const pending = this.#catalogues.get(revision)
      pending?.names.push(...catalogued.names)
      pending?.refused.push(...catalogued.refused)
      if (last) {
        this.#catalogues.delete(revision)
        pending?.resolve(pending)
      }
    }
    if (refused) this.#batches.get(refused.sequence)?.refused.push(...refused.bars)
    if (ack) {
      const pending = this.#batches.get(ack.sequence)
      this.#batches.delete(ack.sequence)
      pending?.resolve({ ...ack, refused: pending.refused })
    }
    if (slow) this.onSlow(slow.pauseMs)
  }

  /** A peer that sends no Welcome would keep this collector from reaching another ingest. */
  #timeOut(): void {
    const seconds = greetingTimeoutMs / 1_000
    this.cancel(new Disconnected('DEADLINE_EXCEEDED', `ingest has not answered Hello within ${seconds} s`))
  }

  #takeWelcome(message: Welcome__Output): void {
    this.#cancelGreeting()
    this.#welcome = { message, offsetMs: message.utcMs - this.#clock.utcMs() }
    if (!message.active) this.onStandby(message)
  }

  #takeKnown(series: readonly KnownSeries__Output[], last: boolean): void {
    this.#known.push(...series)
    if (!last || !this.#welcome) return
    const { message, offsetMs } = this.#welcome
    this.#greeted.resolve({ welcome: message, known: this.#known, offsetMs })
  }

  #finish({ code, details }: Pick<StatusObject, 'code' | 'details'>): void {
    this.#cancelGreeting()
    const end = this.#cancelCause ?? new Disconnected(status[code] ?? 'UNKNOWN', details)
    this.#over.abort(end)
    this.#greeted.reject(end)
    for (const { reject } of [...this.#batches.values(), ...this.#catalogues.values()]) reject(end)
    this.#batches.clear()
    this.#catalogues.clear()
    this.#ended.resolve(end)
  }
}
