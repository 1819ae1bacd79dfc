import { createCoverage } from '../bars/coverage.ts'
import { createHistory } from '../bars/history.ts'
import { createTail } from '../bars/tail.ts'
import type { FollowedRegistry } from '../platform/follow-registry.ts'
import { openHttpServer } from '../platform/http-server.ts'
import type { Stores } from '../ports/stores.ts'
import { createRest } from '../rest/create-rest.ts'
import { createStream, streamPath } from '../stream/stream.ts'
import type { House } from './house.ts'

/** Requests under way have two seconds for themselves; a long answer gets this. */
const httpGraceMs = 5_000

/** REST and the stream behind one HTTP server; gives its port. */
export async function startEdges(house: House, stores: Stores, registry: FollowedRegistry): Promise<number> {
  const { config, clock, log, metrics, lifecycle } = house
  const shared = { ...stores, registry, clock, log, metrics, trustedProxies: config.trustedProxies }
  const { rest, stream } = await lifecycle.start({
    name: 'edges',
    async start() {
      const tail = createTail(stores.bus)
      metrics.counter(
        'fxd_tail_dropped_bars_total',
        'Live bars that left the tail at its bound, before the store was known to show them.',
        [],
        (counter) => counter.inc(tail.dropped),
      )
      const history = createHistory({ ...shared, tail })
      const coverage = createCoverage({ ...shared, tail })
      return { tail, rest: await createRest({ ...shared, history, coverage }), stream: createStream({ ...shared, connectionsMax: config.streamConnectionsMax }) }
    },
    async stop(edges) {
      edges.stream.close()
      await edges.rest.close()
      edges.tail.close()
    },
  })

  const dropped = metrics.counter('fxd_http_dropped_connections_total', 'Connections beyond the bound.')
  const http = await lifecycle.start({
    name: 'http',
    start: () =>
      openHttpServer(
        {
          address: config.httpAddr,
          variable: 'FXD_HTTP_ADDR',
          handle: rest.handler,
          upgrade: { path: streamPath, listener: stream.upgrade },
          dropped: () => dropped.inc(),
        },
        clock,
      ),
    // A server is closed once its last connection is, and sockets are the stream's to end.
    stop: (server) => Promise.all([stream.drain(), server.close(httpGraceMs)]),
    stopTimeoutMs: 2 * httpGraceMs,
  })
  metrics.gauge('fxd_http_connections', 'Open connections, sockets included.', [], (gauge) =>
    gauge.set(http.connections()),
  )
  return http.port
}
