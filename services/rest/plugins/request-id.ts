import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../ports/clock.ts'
import { setHeaders } from '../answer.ts'

/**
 * The id that ties an answer to its log line: always of our own making, since what a client sends as
 * one is a way into the log.
 */
export const makeRequestId = (clock: Clock) => (_: IncomingMessage) => clock.randomHex(8)

export function showRequestId(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, next) => {
    setHeaders(reply, { 'X-Request-Id': request.id })
    next()
  })
}
