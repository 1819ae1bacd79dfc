import { setTimeout as pause } from 'node:timers/promises'
import { barsOf } from '../../../services/core/bars/bar.ts'
import type { ClientIdentity } from '../../../services/wire/client.ts'
import type { CatalogueSymbol } from '../../../services/wire/gen/fxd/v1/CatalogueSymbol.ts'
import { channelOptions } from '../../../services/wire/limits.ts'
import { RawSession } from '../../support/clients/raw-session.ts'
import { encodeSeries } from '../../support/samples/encode-series.ts'
import type { Reading } from '../checks/check-history.ts'
import { type Batch, feed, minuteSeconds, symbols } from './market.ts'

/** Deadline of an answer, longer than any outage of a test: an Ack waits as long as the store does. */
const answerDeadlineMs = 240_000
const retryMs = 100

export interface Ingest extends ClientIdentity {
  /** host:port of its gRPC. */
  readonly grpc: string
}

export interface FeederOptions {
  readonly ingest: Ingest
  readonly mode: 'LIVE' | 'IMPORT'
  readonly next: () => Batch
  /** Symbols that its terminal lists; default: those of `market.ts`. */
  readonly symbols?: readonly string[]
  /** Maximum batches sent and not yet acknowledged. */
  readonly depth?: number
  readonly id?: string
  /** Waits as standby without a deadline while another collector is active. */
  readonly standsBy?: boolean
  /** Uses the keepalive of a collector, which notices a silent network within 10 s. */
  readonly keepalive?: boolean
  /** Also sends the window of each new minute. */
  readonly claims?: boolean
  /** Called with the readings of each acknowledged batch, before the next batch is sent. */
  readonly onAck?: (readings: readonly Reading[]) => Promise<void> | void
}

interface Sent {
  readonly series: ReturnType<typeof encodeSeries>[]
  readonly readings: readonly Reading[]
  readonly begun: number
  /** Open times of minutes that are new in this batch and get a window. */
  readonly minutes: readonly number[]
}

/** A message that is not yet answered: a batch, or the window of a minute of the whole catalogue. */
type Posted = { readonly sequence: number } & (
  | { readonly sent: Sent }
  | { readonly sent?: undefined; readonly minute: number }
)

/**
 * A collector that keeps each batch until it is acknowledged. A new session sends unacknowledged batches again,
 * with the same revisions. It records what it sent and what was acknowledged.
 */
export class Feeder {
  readonly readings: Reading[] = []
  /** Open times of the minutes whose windows were acknowledged. */
  readonly ackedMinutes = new Set<number>()
  /** The error that stopped it before `stop`. */
  fault: Error | undefined
  /** Number of sessions that ended with an error. */
  broken = 0
  /** The error of the last of these sessions. */
  brokenBy = 'nothing'
  ackedBatches = 0
  ackedBars = 0
  /** Longest time from first sending a batch to its ack. */
  longestMs = 0
  readonly #options: FeederOptions
  readonly #depth: number
  #ingest: Ingest
  #session: RawSession | undefined
  #kept: Sent[] = []
  #newest = 0
  /** Minutes whose bars were acknowledged and whose windows were not. */
  readonly #unclaimed = new Set<number>()
  #stopping = false
  #running: Promise<void> = Promise.resolve()

  constructor(options: FeederOptions) {
    this.#options = options
    this.#depth = options.depth ?? 4
    this.#ingest = options.ingest
  }

  start(): this {
    this.#running = this.#run()
    // `stop` and `flows` report the error.
    this.#running.catch((cause: Error) => {
      this.fault = cause
    })
    return this
  }

  /** Resolves once the last batch is acknowledged. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#running
  }

  get ingest(): Ingest {
    return this.#ingest
  }

  /** Ends its session and continues with another ingest. */
  move(ingest: Ingest): void {
    this.#ingest = ingest
    this.#session?.stream.cancel()
  }

  async #run(): Promise<void> {
    while (this.#isBusy) {
      const { keepalive = false } = this.#options
      const session = new RawSession(this.#ingest.grpc, this.#ingest, keepalive ? channelOptions : {})
      this.#session = session
      try {
        await this.#feed(session)
        await session.close()
      } catch (cause) {
        session.stream.cancel()
        if (cause instanceof Fault) throw cause
        this.broken++
        this.brokenBy = String(cause)
        await pause(retryMs)
      }
    }
  }

  get #isBusy(): boolean {
    return !this.#stopping || this.#kept.length > 0 || this.#unclaimed.size > 0
  }

  async #feed(session: RawSession): Promise<void> {
    const { mode, onAck, id = `feeder-${mode}`, standsBy = false, symbols: listed = symbols } = this.#options
    const greeted = session.hello(feed, { mode, id })
    await (standsBy ? greeted : answered(greeted, 'Hello'))
    await answered(session.catalogue(catalogueOf(mode, listed), { snapshot: false }), 'the catalogue')
    const lane = mode === 'LIVE' ? 'LIVE' : 'BACKFILL'
    const posted: Posted[] = [...this.#unclaimed].map((minute) => postWindow(session, minute))
    let batches = 0
    while (this.#isBusy) {
      while (batches < this.#depth && (batches < this.#kept.length || !this.#stopping)) {
        const sent = this.#kept[batches] ?? this.#take()
        posted.push({ sequence: session.post(lane, sent.series), sent })
        batches++
      }
      const first = posted.shift()
      if (first === undefined) return
      const { ack, refused } = await answered(session.answer(first.sequence), 'a message')
      if (refused.length > 0) throw new Fault(`ingest refused a valid bar: ${JSON.stringify(refused[0])}`)
      // Removing answered messages keeps the search short.
      session.received.splice(
        session.received.findIndex((each) => each.ack === ack),
        1,
      )
      if (first.sent === undefined) {
        this.#unclaimed.delete(first.minute)
        this.ackedMinutes.add(first.minute)
        continue
      }
      for (const reading of first.sent.readings) reading.acked = true
      this.longestMs = Math.max(this.longestMs, performance.now() - first.sent.begun)
      this.#kept.shift()
      batches--
      this.ackedBatches++
      this.ackedBars += first.sent.readings.length
      for (const minute of first.sent.minutes) {
        this.#unclaimed.add(minute)
        posted.push(postWindow(session, minute))
      }
      await onAck?.(first.sent.readings)
    }
  }

  #take(): Sent {
    const batch = [...this.#options.next()]
    const readings = batch.flatMap(([symbol, bars]) => bars.map((bar) => ({ symbol, bar, acked: false })))
    this.readings.push(...readings)
    const series = batch.map(([symbol, bars]) =>
      encodeSeries({ symbol, resolution: '1', scale: 5 }, barsOf(bars)),
    )
    const sent = { series, readings, begun: performance.now(), minutes: this.#newMinutes(readings) }
    this.#kept.push(sent)
    return sent
  }

  #newMinutes(readings: readonly Reading[]): number[] {
    if (!this.#options.claims) return []
    const fresh = [...new Set(readings.map(({ bar }) => bar.time as number))].filter(
      (open) => open > this.#newest,
    )
    this.#newest = Math.max(this.#newest, ...fresh)
    return fresh
  }
}

/** The manifest of the feed overrides these fields. */
const catalogueOf = (mode: FeederOptions['mode'], listed: readonly string[]): CatalogueSymbol[] =>
  listed.map((name) => ({ [mode === 'LIVE' ? 'raw' : 'name']: name, type: 'forex', digits: 5 }))

function postWindow(session: RawSession, minute: number): Posted {
  return { sequence: session.postWindow('1', minute, minute + minuteSeconds), minute }
}

/** A fault of ingest rather than of the network: it fails the test. */
class Fault extends Error {}

async function answered<T>(answer: Promise<T>, what: string): Promise<T> {
  const patience = new AbortController()
  const late = pause(answerDeadlineMs, undefined, { signal: patience.signal, ref: false }).then(() => {
    throw new Fault(`${what} has had no answer for ${answerDeadlineMs} ms`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([answer, late])
  } finally {
    patience.abort()
  }
}
