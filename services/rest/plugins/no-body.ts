import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Failure } from '../../core/failure.ts'
import { setHeaders } from '../answer.ts'

/** So much of a body is skipped to keep the connection; a longer one ends it. */
const skippedBytesMax = 65_536

/** Nothing here takes a body, so none is ever parsed: what is never parsed cannot be parsed wrongly. */
export function refuseBodies(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, next) => {
    if (bodyBytes(request.raw) > skippedBytesMax) setHeaders(reply, { Connection: 'close' })
    next()
  })
  app.addHook('preHandler', (request, _reply, next) => {
    if (bodyBytes(request.raw) > 0)
      next(new Failure('INVALID_PARAMS', 'The request has a body; none is wanted.'))
    else next()
  })
}

function bodyBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY
  return Number(headers['content-length'] ?? 0)
}
