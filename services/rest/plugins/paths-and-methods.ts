import type { FastifyInstance } from 'fastify'
import { Failure } from '../../core/failure.ts'
import { pathOf } from '../../platform/http/request-path.ts'
import { setHeaders } from '../answer.ts'
import { preflightHeaders } from './cors.ts'

const allowed = 'GET, HEAD, OPTIONS'

/**
 * What no route answers: unknown paths, other methods, preflights. It happens before any body would be
 * read, and in place of the framework's own handler, which logs the raw URL and with it a key.
 */
export function refuseUnknown(app: FastifyInstance): void {
  const paths = new Set<string>()
  app.addHook('onRoute', (route) => void paths.add(route.url))
  app.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next()
    if (!paths.has(pathOf(request.url))) return next(new Failure('NOT_FOUND'))
    setHeaders(reply, { Allow: allowed })
    if (request.method !== 'OPTIONS') return next(new Failure('METHOD_NOT_ALLOWED'))
    setHeaders(reply, preflightHeaders)
    reply.code(204).send()
  })
  app.setNotFoundHandler(() => {
    throw new Failure('NOT_FOUND')
  })
}
