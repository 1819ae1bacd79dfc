import type { FastifyInstance } from 'fastify'
import { setHeaders } from '../answer.ts'

const headers = {
  // A key in the query must stay in no cache, in no Referer, and nothing here is ever a script.
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const

export function addAnswerHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, next) => {
    setHeaders(reply, headers)
    next()
  })
}
