import type { FastifyInstance } from 'fastify'
import { setHeaders } from '../answer.ts'
import { exceededHeader, rateHeaderNames } from './headers.ts'

/** No cookies, so no ambient authority: any page may read what its visitor's key opens. */
const anyPage = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': [...rateHeaderNames, exceededHeader, 'Retry-After', 'X-Request-Id'].join(
    ', ',
  ),
} as const

/** What a preflight asks for; a day is the longest that browsers remember it. */
export const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
  'Access-Control-Allow-Headers': 'X-API-Key, Authorization, Content-Type',
  'Access-Control-Max-Age': 86_400,
} as const

export function letAnyPageRead(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, next) => {
    setHeaders(reply, anyPage)
    next()
  })
}
