import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../ports/clock.ts'
import type { Address } from '../config.ts'
import { cutReasons } from '../http/http-connections.ts'
import { type HttpServer, openHttpServer } from '../http/http-server.ts'
import { fromZero, type Metrics } from '../metrics.ts'
import { watchLoop } from './loop-watch.ts'

const closeGraceMs = 500

export interface Health {
  readonly port: number
  /** Everything listens: from now on the process is ready, unless another check says no. */
  listening(): void
  /** The process is ending: from now on it is not ready. */
  drain(): void
  /** Sets the check for `notReady`; it replaces an earlier one. It may depend on nothing outside of the process. */
  setCheck(reason: () => string | undefined): void
  /** Why the process must get no new work; `undefined`: it is ready. */
  readonly notReady: () => string | undefined
  close(): Promise<void>
}

export interface HealthDeps {
  readonly address: Address
  /** Whether the registry was loaded once. A store that becomes unavailable later never makes a process unready. */
  readonly loaded: () => boolean
  readonly metrics: Metrics
  readonly connectionsMax?: number
  readonly acceptFailed?: (cause: Error) => void
}

/**
 * `/livez`, `/readyz` and `/metrics` on a separate port. Liveness depends on nothing outside of the process.
 * Ready means: listening, registry loaded once, not draining, event loop not stalled, and capacity for more.
 */
export async function openHealth(deps: HealthDeps, clock: Clock): Promise<Health> {
  const loop = watchLoop(clock)
  let stage: 'starting' | 'listening' | 'draining' = 'starting'
  let why = (): string | undefined => undefined
  const notReady = (): string | undefined => {
    if (stage !== 'listening') return stage
    if (!deps.loaded()) return 'the registry is not loaded yet'
    return loop.stalled() ? 'the event loop was stalled' : why()
  }
  const cut = fromZero(
    deps.metrics.counter(
      'fxd_ops_cut_connections_total',
      'Connections to the operations port that were closed, by reason (see fxd_http_cut_connections_total).',
      ['reason'],
    ),
    'reason',
    cutReasons,
  )
  const server: HttpServer = await openHttpServer(
    {
      address: deps.address,
      variable: 'FXD_OPS_ADDR',
      handle: (request, response) => void answer(request, response, notReady, deps.metrics),
      ...(deps.connectionsMax !== undefined && { connectionsMax: deps.connectionsMax }),
      cut: (reason) => cut.inc({ reason }),
      ...(deps.acceptFailed && { acceptFailed: deps.acceptFailed }),
    },
    clock,
  )
  return {
    port: server.port,
    listening: () => void (stage = 'listening'),
    drain: () => void (stage = 'draining'),
    setCheck: (reason) => void (why = reason),
    notReady,
    close() {
      loop.stop()
      return server.close(closeGraceMs)
    },
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  notReady: () => string | undefined,
  metrics: Metrics,
): Promise<void> {
  const send = (status: number, text: string, contentType = 'text/plain; charset=utf-8'): void => {
    response.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-store' })
    response.end(request.method === 'HEAD' ? undefined : text)
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD')
    return send(405, 'GET only\n')
  }
  const [path] = (request.url ?? '').split('?')
  if (path === '/livez') return send(200, 'alive\n')
  if (path === '/readyz') {
    const reason = notReady()
    return reason === undefined ? send(200, 'ready\n') : send(503, `not ready: ${reason}\n`)
  }
  if (path !== '/metrics') return send(404, 'there are /livez, /readyz and /metrics\n')
  try {
    const { contentType, text } = await metrics.render()
    send(200, text, contentType)
  } catch {
    send(500, 'the metrics could not be collected\n')
  }
}
