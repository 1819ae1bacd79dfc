import type { FastifyInstance } from 'fastify'
import type { Log } from '../../platform/log/log.ts'

/** One line per answer. The route's template stands for the URL: queries and keys never get here. */
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
      'answered',
    )
    done()
  })
}
