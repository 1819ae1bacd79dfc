import type { FastifyInstance } from 'fastify'
import { setHeaders } from '../answer.ts'
import { exceededHeader, rateHeaderNames } from './headers.ts'

/** The API uses no cookies, so any page may read with its visitor's key. */
const anyPage = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': [...rateHeaderNames, exceededHeader, 'Retry-After', 'X-Request-Id'].join(
    ', ',
  ),
} as const

/** The answer to a preflight request; browsers cache it for a day at most. */
export const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
  'Access-Control-Allow-Headers': 'X-API-Key, Authorization, Content-Type',
  'Access-Control-Max-Age': 86_400,
} as const

export function allowAnyOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, next) => {
    setHeaders(reply, anyPage)
    next()
  })
}
