import { createServer, IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'
import type { Address } from '../config.ts'
import { listen } from '../listen.ts'
import { answerBrokenRequest, answerFault, headFault } from './broken-request.ts'
import { type CutReason, HttpConnections } from './http-connections.ts'
import { pathOf } from './request-path.ts'

/** Node's own defaults let one slow client hold a connection for minutes (headers 60 s, request 300 s). */
export const httpTimings = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  checkEveryMs: 2_000,
  /** Longer than the 60 s for which common proxies keep theirs, so that we never close under a request. */
  keepAliveMs: 75_000,
  /** No byte in either direction for so long ends a connection, such as one that stopped reading its answer. */
  stalledMs: 30_000,
} as const

/** Beyond this many open connections (sockets of the stream included) new ones are dropped. */
const connectionsMax = 20_000
const headerBytesMax = 16_384

export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

export interface HttpServerDeps {
  readonly address: Address
  /** The variable that sets the address, for the error of a busy port. */
  readonly variable: string
  readonly handle: RequestListener
  /** Gets requests that ask for a WebSocket on its path; elsewhere they are requests like any other. */
  readonly upgrade?: { readonly path: string; readonly listener: UpgradeListener }
  readonly timings?: { readonly [K in keyof typeof httpTimings]: number }
  readonly connectionsMax?: number
  /** Called for each connection beyond the bound. */
  readonly dropped?: () => void
  /** Called when a connection could not be accepted, such as with `EMFILE`. */
  readonly acceptFailed?: (cause: Error) => void
  /** Of answers that clients have not read, on all connections; beyond it the one that reads nothing is closed. */
  readonly unreadBytesMax?: number
  /** Called for each connection that the server closes because of what its client does. */
  readonly cut?: (reason: CutReason) => void
}

export interface HttpServer {
  readonly port: number
  /** Open connections, those of the stream included. */
  connections(): number
  /** What answers hold until their clients read them. */
  unreadBytes(): number
  /** Stops accepting and lets requests under way finish; what is left after `graceMs` is cut. */
  close(graceMs: number): Promise<void>
}

/** An HTTP server with a bound on every time and count; resolves once it listens. */
export async function openHttpServer(deps: HttpServerDeps, clock: Clock): Promise<HttpServer> {
  const timings = deps.timings ?? httpTimings
  const { upgrade } = deps
  const connections = new HttpConnections(deps)
  const { BoundedRequest, CountedResponse } = countedBy(connections)
  const server = createServer({
    headersTimeout: timings.headersTimeoutMs,
    requestTimeout: timings.requestTimeoutMs,
    connectionsCheckingInterval: timings.checkEveryMs,
    keepAliveTimeout: timings.keepAliveMs,
    maxHeaderSize: headerBytesMax,
    IncomingMessage: BoundedRequest,
    ServerResponse: CountedResponse,
    // Node's own answer to a missing one has no body.
    requireHostHeader: false,
    // Anything but our WebSocket (`h2c`, for one) is a plain request with a header that says nothing to us.
    shouldUpgradeCallback: ({ headers, url = '', isOneTooMany }) =>
      isOneTooMany || (headers.upgrade?.toLowerCase() === 'websocket' && upgrade?.path === pathOf(url)),
  })
  server.timeout = timings.stalledMs
  server.maxConnections = deps.connectionsMax ?? connectionsMax

  let isDraining = false
  const handle: RequestListener = (request, response) => {
    if (!connections.begin(request.socket, response)) return
    response.once('close', () => {
      if (isDraining) server.closeIdleConnections()
    })
    const fault = headFault(request)
    if (fault) answerFault(response, fault)
    else deps.handle(request, response)
  }
  server.on('connection', (socket: Socket) => connections.opened(socket))
  server.on('request', handle)
  server.on('checkExpectation', handle)
  server.on('upgrade', (request: InstanceType<typeof BoundedRequest>, socket, head) => {
    if (request.isOneTooMany) connections.close(request.socket, 'pipelined')
    else upgrade?.listener(request, socket, head)
  })
  server.on('drop', () => deps.dropped?.())
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // A second head must not land in the middle of an answer.
    if (connections.isAnswering(socket as Socket)) socket.destroy()
    else answerBrokenRequest(error.code, socket)
  })
  const port = await listen(server, deps.address, deps.variable)
  server.on('error', (cause) => deps.acceptFailed?.(cause))

  return {
    port,
    connections: () => connections.size,
    unreadBytes: () => connections.unreadBytes,
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      isDraining = true
      connections.drain()
      server.closeIdleConnections()
      const done = new AbortController()
      const late = clock.sleep(graceMs, done.signal).then(() => {
        connections.destroy()
      })
      await closed
      done.abort()
      await late
    },
  }
}

/** What Node makes of each request, as this server counts it. */
function countedBy(connections: HttpConnections) {
  /**
   * Node reads no further on a connection that asks for an upgrade. One request too many looks like that: what a
   * client sent behind it, thousands of requests in one packet, is then not even parsed.
   */
  class BoundedRequest extends IncomingMessage {
    asksUpgrade = false
    isOneTooMany = false

    get upgrade(): boolean {
      return this.asksUpgrade || this.isOneTooMany
    }

    /** Node sets it once the head is there, before anything else looks at the request. */
    set upgrade(asks: boolean | null) {
      this.asksUpgrade = asks === true
      if (asks !== null) this.isOneTooMany ||= connections.isFull(this.socket)
    }
  }
  class CountedResponse extends ServerResponse<BoundedRequest> {
    override end(...args: unknown[]): this {
      super.end(...(args as Parameters<ServerResponse<BoundedRequest>['end']>))
      connections.answered(this.req.socket)
      return this
    }
  }
  return { BoundedRequest, CountedResponse }
}
