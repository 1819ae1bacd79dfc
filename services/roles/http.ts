import type { RequestListener } from 'node:http'
import { openHttpServer } from '../platform/http/http-server.ts'
import type { ProcessContext } from '../platform/process-context.ts'
import { type Stream, streamPath } from '../stream/stream.ts'

/** Connections of requests beside the sockets; a bound of its own, so that sockets cannot take it all. */
const requestConnectionsMax = 10_000
/** Requests under way have two seconds for themselves; a long answer gets this. */
const httpGraceMs = 5_000

export interface HttpDeps {
  readonly handle: RequestListener
  /** Takes the upgrades, where this process has one. */
  readonly stream?: Stream
}

/** Connections to the HTTP port of a process that serves `/v1/stream` or not; more are dropped. */
export const httpConnectionsMax = ({ config }: Pick<ProcessContext, 'config'>, hasStream: boolean): number =>
  requestConnectionsMax + (hasStream ? config.streamConnectionsMax : 0)

/** The one HTTP server of a process; gives its port. A stop lets requests under way finish. */
export async function startHttp(context: ProcessContext, { handle, stream }: HttpDeps): Promise<number> {
  const { config, clock, metrics, lifecycle, handles } = context
  const dropped = metrics.counter('fxd_http_dropped_connections_total', 'Connections beyond the bound.')
  const cut = metrics.counter(
    'fxd_http_cut_connections_total',
    'Connections closed by reason: more than 8 requests under way (pipelined), or answers not read while all of them held their bound of 64 MiB (unread).',
    ['reason'],
  )
  const http = await lifecycle.start({
    name: 'http',
    start: () =>
      openHttpServer(
        {
          address: config.httpAddr,
          variable: 'FXD_HTTP_ADDR',
          handle,
          ...(stream && { upgrade: { path: streamPath, listener: stream.upgrade } }),
          connectionsMax: httpConnectionsMax(context, stream !== undefined),
          dropped: () => dropped.inc(),
          cut: (reason) => cut.inc({ reason }),
          acceptFailed: (cause) => handles.failed('http', cause),
        },
        clock,
      ),
    // A server is closed once its last connection is, and sockets are the stream's to end.
    stop: (server) => Promise.all([stream?.drain(), server.close(httpGraceMs)]),
    stopTimeoutMs: 2 * httpGraceMs,
  })
  metrics.gauge('fxd_http_connections', 'Open connections, sockets included.', [], (gauge) =>
    gauge.set(http.connections()),
  )
  metrics.gauge('fxd_http_unread_bytes', 'What answers hold until their clients read them.', [], (gauge) =>
    gauge.set(http.unreadBytes()),
  )
  return http.port
}
