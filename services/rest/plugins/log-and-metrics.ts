import type { FastifyInstance } from 'fastify'
import type { Log } from '../../platform/log/log.ts'
import { type Metrics, secondsBuckets } from '../../platform/metrics.ts'

/** Logs one line per answer, with the route's template in place of the URL: no query or key is logged. */
export function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', (request, reply, done) => {
    log.info(
      {
        id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ...(request.caller && { key: request.caller.id }),
      },
      'request completed',
    )
    done()
  })
}

const shownMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Measures requests, labelled by the route's template, never by what a client sent. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  const durations = metrics.histogram(
    'fxd_http_request_duration_seconds',
    'Time from the request to the last byte of its answer.',
    secondsBuckets,
    ['route', 'method', 'status'],
  )
  const underWay = metrics.gauge('fxd_http_requests_under_way', 'Requests whose answer is not complete.')
  app.addHook('onRequest', (_request, reply, next) => {
    underWay.inc()
    reply.raw.once('close', () => underWay.dec())
    next()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const labels = {
      route: request.routeOptions.url ?? 'unknown',
      method: shownMethods.has(request.method) ? request.method : 'other',
      status: String(reply.statusCode),
    }
    durations.observe(labels, reply.elapsedTime / 1_000)
    done()
  })
}
