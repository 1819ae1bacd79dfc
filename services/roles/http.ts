import type { RequestListener } from 'node:http'
import { cutReasons } from '../platform/http/http-connections.ts'
import { openHttpServer } from '../platform/http/http-server.ts'
import { fromZero } from '../platform/metrics.ts'
import type { PortMaxima } from '../platform/process/port-shares.ts'
import type { ProcessContext } from '../platform/process/process-context.ts'
import type { Rest } from '../rest/create-rest.ts'
import { type Stream, streamPath } from '../stream/stream.ts'

/** Maximum connections of requests; separate from that of sockets, so that sockets cannot use all. */
export const requestConnectionsMax = 10_000
/** Maximum time for running requests at a stop; a request's own deadline is two seconds, but answers may be long. */
const httpGraceMs = 5_000

export interface HttpDeps {
  readonly handle: RequestListener
  readonly callerOf?: Rest['callerOf']
  readonly connectionsMax: number
  readonly stream?: Stream
}

export const streamMaxima = ({ config }: ProcessContext): Pick<PortMaxima, 'http' | 'sockets'> => ({
  http: requestConnectionsMax + config.streamConnectionsMax,
  sockets: config.streamConnectionsMax,
})

/** Starts the HTTP server of a process, and returns its port. A stop lets running requests finish. */
export async function startHttp(
  context: ProcessContext,
  { handle, callerOf, connectionsMax, stream }: HttpDeps,
): Promise<number> {
  const { config, clock, metrics, lifecycle, handles } = context
  const dropped = metrics.counter(
    'fxd_http_dropped_connections_total',
    'New connections dropped because the maximum was open and none was idle.',
  )
  const cut = fromZero(
    metrics.counter(
      'fxd_http_cut_connections_total',
      'Connections that the server closed, by reason: pipelined (more than 8 requests under way), unread (unread answers of all connections exceeded 64 MiB), or idle (a new connection at the maximum replaced the one that was idle longest).',
      ['reason'],
    ),
    'reason',
    cutReasons,
  )
  const http = await lifecycle.start({
    name: 'http',
    start: () =>
      openHttpServer(
        {
          address: config.httpAddr,
          variable: 'FXD_HTTP_ADDR',
          handle,
          ...(callerOf && { callerOf }),
          ...(stream && { upgrade: { path: streamPath, listener: stream.upgrade } }),
          connectionsMax,
          dropped: () => dropped.inc(),
          cut: (reason) => cut.inc({ reason }),
          acceptFailed: (cause) => handles.failed('http', cause),
        },
        clock,
      ),
    // The server closes after its last connection, and only the stream can close sockets.
    stop: (server) => Promise.all([stream?.drain(), server.close(httpGraceMs)]),
    stopTimeoutMs: 2 * httpGraceMs,
  })
  metrics.gauge('fxd_http_connections', 'Open connections, sockets included.', [], (gauge) =>
    gauge.set(http.connections()),
  )
  metrics.gauge('fxd_http_unread_bytes', 'Bytes of answers that their clients have not read.', [], (gauge) =>
    gauge.set(http.unreadBytes()),
  )
  return http.port
}
