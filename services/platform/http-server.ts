import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../ports/clock.ts'
import { answerBrokenRequest } from './broken-request.ts'
import type { Address } from './config.ts'
import { listen } from './listen.ts'
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

export interface HttpServerOptions {
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
}

export interface HttpServer {
  readonly port: number
  /** Open connections, those of the stream included. */
  connections(): number
  /** Stops accepting and lets requests under way finish; what is left after `graceMs` is cut. */
  close(graceMs: number): Promise<void>
}

/** An HTTP server with a bound on every time and count; resolves once it listens. */
export async function openHttpServer(options: HttpServerOptions, clock: Clock): Promise<HttpServer> {
  const timings = options.timings ?? httpTimings
  const { upgrade } = options
  const server = createServer({
    headersTimeout: timings.headersTimeoutMs,
    requestTimeout: timings.requestTimeoutMs,
    connectionsCheckingInterval: timings.checkEveryMs,
    keepAliveTimeout: timings.keepAliveMs,
    maxHeaderSize: headerBytesMax,
    // Anything but our WebSocket (`h2c`, for one) is a plain request with a header that says nothing to us.
    shouldUpgradeCallback: ({ headers, url = '' }) =>
      headers.upgrade?.toLowerCase() === 'websocket' && upgrade?.path === pathOf(url),
  })
  server.timeout = timings.stalledMs
  server.maxConnections = options.connectionsMax ?? connectionsMax

  const connections = trackConnections(server)
  const requests = trackRequests(server)
  server.on('request', options.handle)
  if (upgrade) server.on('upgrade', upgrade.listener)
  server.on('drop', () => options.dropped?.())
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // A second head must not land in the middle of an answer.
    if (requests.answering(socket)) socket.destroy()
    else answerBrokenRequest(error.code, socket)
  })
  const port = await listen(server, options.address, options.variable)

  return {
    port,
    connections: () => connections.size,
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      requests.drain()
      const done = new AbortController()
      const late = clock.sleep(graceMs, done.signal).then(() => {
        for (const socket of connections) socket.destroy()
      })
      await closed
      done.abort()
      await late
    },
  }
}

function trackConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    // Node takes its own listener away at an upgrade: a reset in that moment must not end the process.
    socket.on('error', () => socket.destroy())
  })
  return open
}

/** Draining tells clients on open connections to come back on a new one, which another process takes. */
function trackRequests(server: Server): { drain(): void; answering(socket: Duplex): boolean } {
  const underWay = new Set<ServerResponse>()
  let draining = false
  const endConnection = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader('Connection', 'close')
  }
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    underWay.add(response)
    if (draining) endConnection(response)
    response.once('close', () => {
      underWay.delete(response)
      if (draining) server.closeIdleConnections()
    })
  })
  return {
    answering: (socket) => [...underWay].some((response) => response.socket === socket),
    drain() {
      draining = true
      for (const response of underWay) endConnection(response)
      server.closeIdleConnections()
    },
  }
}
