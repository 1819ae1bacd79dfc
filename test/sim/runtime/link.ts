import { EventEmitter } from 'node:events'
import { status } from '@grpc/grpc-js'
import {
  type CallListener,
  type Dial,
  serializeOutgoing,
} from '../../../services/collector/connection/dial.ts'
import type { CollectorCall } from '../../../services/ingest/session/stream/collector-stream.ts'
import { Collector } from '../../../services/wire/load.ts'
import type { Network } from './network.ts'
import type { SimProcess, Timeline } from './timeline.ts'

/** Time after which a connection to an unreachable peer fails, as with gRPC keepalive. */
const keepaliveMs = 10_000
const checkMs = 1_000

/** An ingest process that accepts calls. */
export interface SimIngest {
  readonly process: SimProcess
  /** Accepts a new call. `receive` parses the bytes of its messages, which the call then emits as `data`. */
  accept(call: CollectorCall): void
  receive(bytes: Buffer): unknown
}

const { responseDeserialize } = Collector.service.Session

/** Connects to the ingests of this run by their names. Bytes arrive late but in order, or the connection fails. */
export function dialer(
  process: SimProcess,
  network: Network,
  timeline: Timeline,
  ingestNamed: (name: string) => SimIngest | undefined,
): Dial {
  return ({ address }, listener) => {
    const connection = new SimConnection(process, address, listener, network, timeline)
    timeline.at(network.delayMs(), () => {
      const ingest = ingestNamed(address)
      if (!ingest?.process.alive || network.isCut(process.name, address))
        return connection.fail('connection refused')
      return connection.connect(ingest)
    })
    return connection
  }
}

class SimConnection {
  readonly #process: SimProcess
  readonly #to: string
  readonly #listener: CallListener
  readonly #network: Network
  readonly #timeline: Timeline
  #ingest: SimIngest | undefined
  #call: SimCall | undefined
  #queued: (() => void)[] = []
  #hasEnded = false
  /** Earliest time at which the next message may arrive, so that messages keep their order. */
  #upAt = 0
  #downAt = 0
  #cutSince: number | undefined

  constructor(process: SimProcess, to: string, listener: CallListener, network: Network, timeline: Timeline) {
    this.#process = process
    this.#to = to
    this.#listener = listener
    this.#network = network
    this.#timeline = timeline
  }

  connect(ingest: SimIngest): void {
    if (this.#hasEnded) return
    this.#ingest = ingest
    const call = new SimCall(
      (bytes) => this.#down(bytes),
      (end) => this.#close(end),
    )
    this.#call = call
    ingest.accept(call as unknown as CollectorCall)
    this.#watch()
    for (const send of this.#queued.splice(0)) send()
  }

  send(message: Parameters<typeof serializeOutgoing>[0]): void {
    const bytes = Buffer.from(serializeOutgoing(message))
    this.#up(() => this.#call?.arrive(this.#ingest?.receive(bytes)))
  }

  end(): void {
    this.#up(() => this.#call?.halfClose())
  }

  cancel(): void {
    this.#up(() => this.#call?.cancel())
    this.#finish({ code: status.CANCELLED, details: 'cancelled' })
  }

  /** Ends the connection on both sides. */
  fail(details: string): void {
    this.#call?.cancel()
    this.#finish({ code: status.UNAVAILABLE, details })
  }

  #up(run: () => void): void {
    if (!this.#ingest) return void this.#queued.push(() => this.#up(run))
    this.#upAt = Math.max(this.#upAt, this.#timeline.nowMs + this.#network.delayMs())
    this.#timeline.at(this.#upAt - this.#timeline.nowMs, () => {
      if (this.#ingest?.process.alive && !this.#isCut()) run()
    })
  }

  #down(bytes: Buffer): void {
    this.#later(() => this.#listener.received(responseDeserialize(bytes)))
  }

  #close(end: { code: number; details: string }): void {
    this.#later(() => this.#finish(end))
  }

  #later(run: () => void): void {
    this.#downAt = Math.max(this.#downAt, this.#timeline.nowMs + this.#network.delayMs())
    this.#timeline.at(this.#downAt - this.#timeline.nowMs, () => {
      if (this.#process.alive && !this.#hasEnded && !this.#isCut()) run()
    })
  }

  /** Once a connection was cut it stays cut: bytes were lost, so no later byte may arrive. */
  #isCut(): boolean {
    if (this.#cutSince === undefined && this.#network.isCut(this.#process.name, this.#to))
      this.#cutSince = this.#timeline.nowMs
    return this.#cutSince !== undefined
  }

  #watch(): void {
    // Each side must detect the end itself: a close that was sent while cut off did not arrive.
    if (this.#hasEnded && this.#call?.destroyed !== false) return
    if (!this.#ingest?.process.alive) return this.fail('the peer has ended')
    if (!this.#process.alive) {
      this.#call?.cancel()
      return
    }
    if (this.#isCut() && this.#timeline.nowMs - (this.#cutSince ?? 0) >= keepaliveMs)
      return this.fail('keepalive')
    this.#timeline.at(checkMs, () => this.#watch())
  }

  #finish(end: { code: number; details: string }): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#timeline.at(0, () => this.#process.alive && this.#listener.over(end))
  }
}

/** Ingest's end of a connection: the part of a gRPC stream that a session uses. */
class SimCall extends EventEmitter {
  destroyed = false
  writableEnded = false
  readonly #send: (bytes: Buffer) => void
  readonly #close: (end: { code: number; details: string }) => void
  #paused = false
  #waiting: (() => void)[] = []

  constructor(send: (bytes: Buffer) => void, close: (end: { code: number; details: string }) => void) {
    super()
    this.#send = send
    this.#close = close
    // As in gRPC: an emitted error becomes the status of the call.
    this.on('error', (end: { code: number; details: string }) => this.#finish(end))
  }

  write(bytes: Buffer, sent: () => void): boolean {
    if (!this.writableEnded && !this.destroyed) this.#send(bytes)
    sent()
    return true
  }

  end(): void {
    this.#finish({ code: status.OK, details: '' })
  }

  arrive(received: unknown): void {
    this.#runOrQueue(() => this.emit('data', received))
  }

  halfClose(): void {
    this.#runOrQueue(() => this.emit('end'))
  }

  cancel(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('cancelled')
    this.emit('close')
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    while (!this.#paused && this.#waiting.length > 0) this.#waiting.shift()?.()
  }

  isPaused(): boolean {
    return this.#paused
  }

  #runOrQueue(run: () => void): void {
    if (this.destroyed) return
    if (this.#paused) this.#waiting.push(run)
    else run()
  }

  #finish(end: { code: number; details: string }): void {
    if (this.writableEnded || this.destroyed) return
    this.writableEnded = true
    this.destroyed = true
    this.#close(end)
    this.emit('close')
  }
}
