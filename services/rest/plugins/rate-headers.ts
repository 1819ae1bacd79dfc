import type { FastifyReply } from 'fastify'
import type { RateExceeded } from '../../access/admit.ts'
import type { RateState } from '../../core/rate-window.ts'
import { setHeaders } from '../answer.ts'

/** In the specification's order and spelling. */
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
