import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { RateExceeded } from '../../access/admit.ts'
import type { RateState } from '../../core/keys/rate-window.ts'
import type { Clock } from '../../ports/clock.ts'
import { setHeaders } from '../answer.ts'

/** Connects an answer with its log line. A client's own id is never used: it would let clients write into the log. */
export const makeRequestId = (clock: Clock) => (_: IncomingMessage) => clock.randomHex(8)

export function addRequestId(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, next) => {
    setHeaders(reply, { 'X-Request-Id': request.id })
    next()
  })
}

/** Headers and their fields, in the specification's order and case. */
const rows = [
  ['X-RateLimit-Limit-Minute', 'limitMinute'],
  ['X-RateLimit-Remaining-Minute', 'remainingMinute'],
  ['X-RateLimit-Reset-Minute', 'resetMinute'],
  ['X-RateLimit-Limit-Day', 'limitDay'],
  ['X-RateLimit-Remaining-Day', 'remainingDay'],
] as const satisfies readonly (readonly [string, keyof RateState])[]

export const rateHeaderNames = rows.map(([name]) => name)
export const exceededHeader = 'X-RateLimit-Exceeded'

export const setRateHeaders = (reply: FastifyReply, state: RateState): void =>
  setHeaders(reply, Object.fromEntries(rows.map(([name, field]) => [name, state[field]])))

export function setExceeded(reply: FastifyReply, refusal: RateExceeded): void {
  setRateHeaders(reply, refusal.state)
  setHeaders(reply, { [exceededHeader]: refusal.exceeded })
}

const headers = {
  // A key in the query must not get into a cache or a Referer; no answer may run as a script.
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
