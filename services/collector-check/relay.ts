import type { Socket } from 'node:net'
import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  Server,
  type ServerDuplexStream,
  type StatusObject,
  status,
} from '@grpc/grpc-js'
import { decodeBars, type ReceivedBars, receivedBars } from '../wire/decode-bars.ts'
import type { CollectorMessage__Output } from '../wire/gen/fxd/v1/CollectorMessage.ts'
import type { IngestMessage, IngestMessage__Output } from '../wire/gen/fxd/v1/IngestMessage.ts'
import { channelOptions, serverOptions } from '../wire/limits.ts'
import { type Listening, listen } from '../wire/listen.ts'
import { Collector } from '../wire/load.ts'
import { serverCredentials } from '../wire/server-credentials.ts'
import { UnauthenticatedConnections } from '../wire/unauthenticated-connections.ts'

/** Larger messages than ingest accepts are passed on to it, so that its own status says so. */
const messageBytes = 4 * 1024 * 1024
const connectionsMax = 100

/** A message of the collector. Neither field is set if the bytes are no message of the protocol. */
export interface Heard {
  readonly bars?: ReceivedBars | undefined
  readonly message?: CollectorMessage__Output | undefined
}

export interface SessionListener {
  heard(message: Heard): void
  /** Ingest answered. The listener may change the answer before the collector gets it. */
  answered(answer: IngestMessage__Output): void
  /** The collector gets this answer now. */
  delivered(answer: IngestMessage__Output): void
  /** Called once, as the last event. */
  ended(end: Pick<StatusObject, 'code' | 'details'>): void
}

export interface RelayOptions {
  /** host:port */
  readonly ingest: string
  readonly tls: Parameters<typeof serverCredentials>[0]
  readonly opened: (session: RelayedSession) => SessionListener
}

type Call = ServerDuplexStream<Buffer, Buffer>
const { path, requestDeserialize, responseDeserialize, responseSerialize } = Collector.service.Session
const asIs = (bytes: Buffer): Buffer => bytes
const unavailable = { code: status.UNAVAILABLE, details: 'the check makes ingest unavailable for a moment' }

class Connections extends UnauthenticatedConnections {
  readonly open = new Set<Socket>()

  override add(socket: Socket): void {
    this.open.add(socket)
    socket.once('close', () => this.open.delete(socket))
    super.add(socket)
  }
}

/** A gRPC server between a collector and ingest. It passes all messages on, and makes the faults of a network. */
export class Relay {
  readonly #server = new Server({ ...serverOptions, 'grpc.max_receive_message_length': messageBytes })
  readonly #client: Client
  readonly #options: RelayOptions
  readonly #connections = new Connections()
  readonly #sessions = new Set<RelayedSession>()
  #listening: Listening | undefined
  #isHolding = false
  /** Answers all calls with UNAVAILABLE, and counts them. */
  isUnavailable = false
  refusedCalls = 0

  constructor(options: RelayOptions) {
    this.#options = options
    this.#client = new Client(options.ingest, credentials.createInsecure(), {
      ...channelOptions,
      'grpc.max_send_message_length': messageBytes,
    })
    const service = { ...Collector.service.Session, requestDeserialize: asIs, responseSerialize: asIs }
    this.#server.addService({ Session: service }, { Session: (call: Call) => this.#serve(call) })
  }

  async listen(host: string, port: number): Promise<number> {
    const at = { host, port, connectionsMax, unauthenticated: this.#connections }
    this.#listening = await listen(this.#server, { ...at, credentials: serverCredentials(this.#options.tls) })
    return this.#listening.port
  }

  /** Keeps all answers until `release`, or until their session ends. */
  hold(): void {
    this.#isHolding = true
    for (const session of this.#sessions) session.hold()
  }

  release(): void {
    this.#isHolding = false
    for (const session of this.#sessions) session.release()
  }

  /** Resets all connections. Answers that were kept are lost. */
  kill(): void {
    this.#isHolding = false
    for (const session of this.#sessions) session.kill()
    for (const socket of this.#connections.open) socket.resetAndDestroy()
  }

  async close(): Promise<void> {
    this.kill()
    const closed = this.#listening?.close()
    this.#server.forceShutdown()
    this.#client.close()
    await closed
  }

  #serve(call: Call): void {
    if (this.isUnavailable) {
      this.refusedCalls += 1
      call.emit('error', unavailable)
      return
    }
    const metadata = new Metadata()
    for (const value of call.metadata.get('authorization')) metadata.add('authorization', value)
    const ingest = this.#client.makeBidiStreamRequest(path, asIs, asIs, metadata)
    const session = new RelayedSession(call, ingest, this.#options.opened, () =>
      this.#sessions.delete(session),
    )
    this.#sessions.add(session)
    if (this.#isHolding) session.hold()
  }
}

/** One session of a collector, passed on to ingest. */
export class RelayedSession {
  readonly #call: Call
  readonly #ingest: ClientDuplexStream<Buffer, Buffer>
  readonly #listener: SessionListener
  readonly #kept: IngestMessage__Output[] = []
  #isHolding = false
  #isOver = false

  constructor(
    call: Call,
    ingest: ClientDuplexStream<Buffer, Buffer>,
    opened: (session: RelayedSession) => SessionListener,
    onOver: () => void,
  ) {
    this.#call = call
    this.#ingest = ingest
    this.#listener = opened(this)
    call.on('data', (bytes: Buffer) => {
      if (this.#isOver) return
      this.#listener.heard(hear(bytes))
      if (!ingest.write(bytes)) call.pause()
    })
    ingest.on('drain', () => call.resume())
    call.on('drain', () => ingest.resume())
    call.on('end', () => ingest.end())
    call.on('cancelled', () => ingest.cancel())
    call.on('error', () => ingest.cancel())
    ingest.on('data', (bytes: Buffer) => this.#take(responseDeserialize(bytes)))
    // The status event reports the same failure.
    ingest.on('error', () => undefined)
    ingest.on('status', (end: StatusObject) => {
      onOver()
      this.#end(end)
      if (end.code === status.OK) call.end()
      else if (!call.destroyed) call.emit('error', { code: end.code, details: end.details })
    })
  }

  /** True while ingest reads nothing of this session. */
  get isPaused(): boolean {
    return this.#call.isPaused()
  }

  /** Sends an answer that ingest did not make. */
  send(answer: IngestMessage): void {
    if (!this.#isOver) this.#call.write(responseSerialize(answer))
  }

  hold(): void {
    this.#isHolding = true
  }

  release(): void {
    this.#isHolding = false
    for (const answer of this.#kept.splice(0)) this.#deliver(answer)
  }

  kill(): void {
    this.#end({ code: status.CANCELLED, details: '' })
    this.#ingest.cancel()
  }

  #take(answer: IngestMessage__Output): void {
    this.#listener.answered(answer)
    if (this.#isHolding) this.#kept.push(answer)
    else this.#deliver(answer)
  }

  #deliver(answer: IngestMessage__Output): void {
    if (this.#isOver) return
    this.#listener.delivered(answer)
    if (!this.#call.write(responseSerialize(answer))) this.#ingest.pause()
  }

  #end(end: Pick<StatusObject, 'code' | 'details'>): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#listener.ended(end)
  }
}

function hear(bytes: Buffer): Heard {
  try {
    const plain = decodeBars(bytes)
    if (plain) return { bars: plain }
    const message = requestDeserialize(bytes)
    return message.bars ? { bars: receivedBars(message.bars) } : { message }
  } catch {
    return {}
  }
}
