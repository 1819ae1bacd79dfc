import type { FastifyInstance } from 'fastify'
import { anyOrigin } from '../../core/cross-origin.ts'
import { setHeaders } from '../answer.ts'
import { exceededHeader, rateHeaderNames } from './headers.ts'

const anyPage = {
  ...anyOrigin,
  'Access-Control-Expose-Headers': [...rateHeaderNames, exceededHeader, 'Retry-After', 'X-Request-Id'].join(
    ', ',
  ),
} as const

export function allowAnyOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, next) => {
    setHeaders(reply, anyPage)
    next()
  })
}
