import { EventEmitter } from 'node:events'
import { status } from '@grpc/grpc-js'
import { type CallListener, type Dial, serializeOutgoing } from '../../services/collector/connection/dial.ts'
import type { CollectorCall } from '../../services/ingest/session/collector-stream.ts'
import { Collector } from '../../services/wire/load.ts'
import type { Network } from './network.ts'
import type { Life, Timeline } from './timeline.ts'

/** A peer that was cut off is given up after this, as keepalive does. */
const keepaliveMs = 10_000
const checkMs = 1_000

/** An ingest that takes calls. */
export interface Answering {
  readonly life: Life
  /** Takes a new call; the bytes of its messages come as `data` through `receive`. */
  accept(call: CollectorCall): void
  receive(bytes: Buffer): unknown
}

const { responseSerialize, responseDeserialize } = Collector.service.Session

/** Dials ingests of this run by their names. Bytes arrive in their order, late, or the line is dead. */
export function dialer(
  life: Life,
  network: Network,
  timeline: Timeline,
  ingestNamed: (name: string) => Answering | undefined,
): Dial {
  return ({ address }, listener) => {
    const line = new LinkedLine(life, address, listener, network, timeline)
    timeline.at(network.delayMs(), () => {
      const ingest = ingestNamed(address)
      if (!ingest?.life.alive || network.isCut(life.name, address)) return line.die('connection refused')
      return line.connect(ingest)
    })
    return line
  }
}

class LinkedLine {
  readonly #life: Life
  readonly #to: string
  readonly #listener: CallListener
  readonly #network: Network
  readonly #timeline: Timeline
  #ingest: Answering | undefined
  #call: SimCall | undefined
  #early: (() => void)[] = []
  #isOver = false
  /** Nothing overtakes what was sent before. */
  #upAt = 0
  #downAt = 0
  #cutSince: number | undefined

  constructor(life: Life, to: string, listener: CallListener, network: Network, timeline: Timeline) {
    this.#life = life
    this.#to = to
    this.#listener = listener
    this.#network = network
    this.#timeline = timeline
  }

  connect(ingest: Answering): void {
    if (this.#isOver) return
    this.#ingest = ingest
    const call = new SimCall(
      (bytes) => this.#down(bytes),
      (end) => this.#close(end),
    )
    this.#call = call
    ingest.accept(call as unknown as CollectorCall)
    this.#watch()
    for (const send of this.#early.splice(0)) send()
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
    this.#over({ code: status.CANCELLED, details: 'cancelled' })
  }

  /** Both sides learn that the connection is gone. */
  die(details: string): void {
    this.#call?.cancel()
    this.#over({ code: status.UNAVAILABLE, details })
  }

  #up(run: () => void): void {
    if (!this.#ingest) return void this.#early.push(() => this.#up(run))
    this.#upAt = Math.max(this.#upAt, this.#timeline.nowMs + this.#network.delayMs())
    this.#timeline.at(this.#upAt - this.#timeline.nowMs, () => {
      if (this.#ingest?.life.alive && !this.#isCut()) run()
    })
  }

  #down(bytes: Buffer): void {
    this.#later(() => this.#listener.received(responseDeserialize(bytes)))
  }

  #close(end: { code: number; details: string }): void {
    this.#later(() => this.#over(end))
  }

  #later(run: () => void): void {
    this.#downAt = Math.max(this.#downAt, this.#timeline.nowMs + this.#network.delayMs())
    this.#timeline.at(this.#downAt - this.#timeline.nowMs, () => {
      if (this.#life.alive && !this.#isOver && !this.#isCut()) run()
    })
  }

  /** What is cut loses bytes, so nothing may come through later. */
  #isCut(): boolean {
    if (this.#cutSince === undefined && this.#network.isCut(this.#life.name, this.#to))
      this.#cutSince = this.#timeline.nowMs
    return this.#cutSince !== undefined
  }

  #watch(): void {
    // Each side finds out for itself: one that hung up while cut off was not heard.
    if (this.#isOver && this.#call?.destroyed !== false) return
    if (!this.#ingest?.life.alive) return this.die('the peer is gone')
    if (!this.#life.alive) {
      this.#call?.cancel()
      return
    }
    if (this.#isCut() && this.#timeline.nowMs - (this.#cutSince ?? 0) >= keepaliveMs)
      return this.die('keepalive')
    this.#timeline.at(checkMs, () => this.#watch())
  }

  #over(end: { code: number; details: string }): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#timeline.at(0, () => this.#life.alive && this.#listener.over(end))
  }
}

/** Ingest's end of a line: what its session uses of a gRPC stream. */
class SimCall extends EventEmitter {
  destroyed = false
  writableEnded = false
  readonly writableLength = 0
  readonly #send: (bytes: Buffer) => void
  readonly #close: (end: { code: number; details: string }) => void
  #paused = false
  #waiting: (() => void)[] = []

  constructor(send: (bytes: Buffer) => void, close: (end: { code: number; details: string }) => void) {
    super()
    this.#send = send
    this.#close = close
    // As gRPC does: an error that is emitted is the status of the call.
    this.on('error', (end: { code: number; details: string }) => this.#finish(end))
  }

  write(message: Parameters<typeof responseSerialize>[0]): boolean {
    if (!this.writableEnded && !this.destroyed) this.#send(Buffer.from(responseSerialize(message)))
    return true
  }

  end(): void {
    this.#finish({ code: status.OK, details: '' })
  }

  arrive(received: unknown): void {
    this.#take(() => this.emit('data', received))
  }

  halfClose(): void {
    this.#take(() => this.emit('end'))
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

  #take(run: () => void): void {
    if (this.destroyed) return
    if (this.#paused) this.#waiting.push(run)
    else run()
  }

  #finish(end: { code: number; details: string }): void {
    if (this.writableEnded || this.destroyed) return
    this.writableEnded = true
    this.destroyed = true
    this.#close(end)
  }
}
