import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'
import type { Address } from '../config.ts'
import { listen } from '../listen.ts'
import { answerBrokenRequest, headFault } from './broken-request.ts'
import { answerError } from './error-answer.ts'
import { type CutReason, HttpConnections } from './http-connections.ts'
import { pathOf } from './request-path.ts'
import { RequestTurns } from './request-turns.ts'

/** Timeouts. Node's defaults let one slow client keep a connection for minutes (headers 60 s, request 300 s). */
export const httpTimings = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  checkEveryMs: 2_000,
  /** Longer than the 60 s of common proxies: the server must not close a connection that a proxy uses. */
  keepAliveMs: 75_000,
  /** Maximum time without a byte in either direction, such as of a client that stopped reading; see `stalled`. */
  stalledMs: 30_000,
} as const

const headerBytesMax = 16_384
const handshakeTimeoutMs = 10_000
/** A TLS connection counts after its handshake. Those before it included, twice the maximum may be open. */
const handshakesFactor = 2
/** Maximum listeners of an answer's end; Node warns above this, because more would be a leak. */
const responseListenersMax = 20

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

interface TlsPair {
  readonly pair: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
}

/** A certificate with its key, which may be replaced. */
export interface ServerTls {
  readonly value: TlsPair
  onChange(act: (replaced: TlsPair) => void): unknown
}

export interface HttpServerDeps {
  readonly address: Address
  /** The variable that sets the address; the error of a busy port names it. */
  readonly variable: string
  readonly handle: RequestListener
  /** Without it HTTP is not encrypted. Replaced files are used by new connections. */
  readonly tls?: ServerTls | undefined
  /** The sender of the request. Callers take turns when many requests wait for their start; by default all are one. */
  readonly callerOf?: (request: IncomingMessage) => string
  /** Handles requests for a WebSocket on its path; on other paths they are plain requests. */
  readonly upgrade?: { readonly path: string; readonly listener: UpgradeListener }
  readonly timings?: { readonly [K in keyof typeof httpTimings]: number }
  readonly connectionsMax?: number
  /** Called for each new connection that was dropped above the limit. */
  readonly dropped?: () => void
  /** Called when a connection could not be accepted, such as with `EMFILE`. */
  readonly acceptFailed?: (cause: Error) => void
  /** Maximum bytes of answers that clients have not read, on all connections; above it a connection is closed. */
  readonly unreadBytesMax?: number
  /** Called for each connection that the server closes because of its client. */
  readonly cut?: (reason: CutReason) => void
}

export interface HttpServer {
  readonly port: number
  /** Open connections, sockets of the stream included. */
  connections(): number
  unreadBytes(): number
  /** Stops accepting and lets requests under way finish; after `graceMs` the rest is closed. */
  close(graceMs: number): Promise<void>
}

/** An HTTP server with a limit on every time and count; resolves once it listens. */
export async function openHttpServer(deps: HttpServerDeps, clock: Clock): Promise<HttpServer> {
  const timings = deps.timings ?? httpTimings
  const { upgrade } = deps
  const connections = new HttpConnections(deps)
  const turns = new RequestTurns(clock)
  const { BoundedRequest, CountedResponse } = countedBy(connections)
  /** The answer to an earlier request would be written between the frames of a WebSocket. */
  const isFirst = ({ socket }: IncomingMessage): boolean => !connections.isAnswering(socket)
  const options: ServerOptions<typeof BoundedRequest, typeof CountedResponse> = {
    headersTimeout: timings.headersTimeoutMs,
    requestTimeout: timings.requestTimeoutMs,
    connectionsCheckingInterval: timings.checkEveryMs,
    keepAliveTimeout: timings.keepAliveMs,
    maxHeaderSize: headerBytesMax,
    IncomingMessage: BoundedRequest,
    ServerResponse: CountedResponse,
    // Node's own answer to a missing Host header has no body.
    requireHostHeader: false,
    // Any other upgrade (such as `h2c`) is handled as a plain request.
    shouldUpgradeCallback: (request) =>
      request.isOneTooMany || (isFirst(request) && asksWebSocket(request, upgrade?.path)),
  }
  const server = deps.tls ? createEncrypted(deps.tls, options) : createServer(options)
  if (deps.tls && deps.connectionsMax) server.maxConnections = handshakesFactor * deps.connectionsMax
  // Without `httpAllowHalfOpen` a client that ends its side after its request, such as `nc -N`, gets no answer.
  Object.assign(server, { httpAllowHalfOpen: true, timeout: timings.stalledMs })
  server.on('timeout', (socket: Socket) => connections.stalled(socket))

  let isDraining = false
  const handle: RequestListener = (request, response) => {
    response.setMaxListeners(responseListenersMax)
    if (!connections.begin(request.socket, response)) return
    response.once('close', () => {
      if (isDraining) server.closeIdleConnections()
    })
    turns.start(
      () => start(deps.handle, request, response),
      () => deps.callerOf?.(request) ?? '',
    )
  }
  server.on(deps.tls ? 'secureConnection' : 'connection', (socket: Socket) => connections.opened(socket))
  server.on('request', handle)
  server.on('checkExpectation', handle)
  server.on('upgrade', (request: InstanceType<typeof BoundedRequest>, socket, head) => {
    if (request.isOneTooMany) connections.close(request.socket, 'pipelined')
    else {
      connections.upgraded(request.socket)
      upgrade?.listener(request, socket, head)
    }
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    refuseBrokenRequest(connections, error.code, socket as Socket),
  )
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
      const late = clock.sleep(graceMs, done.signal).then(() => connections.destroy())
      await closed
      done.abort()
      await late
    },
  }
}

function refuseBrokenRequest(connections: HttpConnections, code: string | undefined, socket: Socket): void {
  // A second head must not be written into an answer.
  if (connections.isAnswering(socket)) socket.destroy()
  else answerBrokenRequest(code, socket)
}

function createEncrypted<R extends typeof IncomingMessage, S extends typeof ServerResponse<InstanceType<R>>>(
  tls: ServerTls,
  options: ServerOptions<R, S>,
): Server<R, S> {
  const server = createTlsServer<R, S>({
    ...options,
    ...tls.value.pair,
    handshakeTimeout: handshakeTimeoutMs,
  })
  tls.onChange(({ pair }) => {
    if (pair) server.setSecureContext(pair)
  })
  // A failed handshake is no request: there is nothing to answer.
  server.on('tlsClientError', (_cause, socket) => socket.destroy())
  return server
}

function start(handle: RequestListener, ...[request, response]: Parameters<RequestListener>): void {
  if (request.socket.destroyed) return
  const fault = headFault(request)
  if (fault) answerError(response, { ...fault, headers: { Connection: 'close' } })
  else handle(request, response)
}

const asksWebSocket = (request: IncomingMessage, path: string | undefined): boolean =>
  request.method === 'GET' &&
  request.headers.upgrade?.toLowerCase() === 'websocket' &&
  pathOf(request.url ?? '') === path &&
  headFault(request) === undefined

/** The request and answer classes of the server; they count the requests and answers of each connection. */
function countedBy(connections: HttpConnections) {
  /** Node parses nothing behind an upgrade, so one request too many is shown as an upgrade: thousands may follow. */
  class BoundedRequest extends IncomingMessage {
    asksUpgrade = false
    isOneTooMany = false

    get upgrade(): boolean {
      return this.asksUpgrade || this.isOneTooMany
    }

    /** Node sets it once the head is parsed, before anything else reads the request. */
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
