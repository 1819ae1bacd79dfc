import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Failure } from '../../core/failure.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import { setHeaders } from '../answer.ts'
import { Deadline } from '../deadline.ts'
import { KeyConcurrency } from '../key-concurrency.ts'

/** Lets a request wait until fewer of its key run; it counts as running until the client has read its answer. */
export function limitConcurrency(app: FastifyInstance, concurrency: KeyConcurrency): void {
  app.addHook('onRequest', async ({ caller, deadline }, reply) => {
    if (!caller) return
    await concurrency.enter(caller.id, deadline)
    const leave = (): void => concurrency.leave(caller.id)
    if (reply.raw.destroyed) leave()
    else reply.raw.once('close', leave)
  })
}

export function createConcurrency(clock: Clock, metrics: Metrics): KeyConcurrency {
  const concurrency = new KeyConcurrency(clock)
  metrics.gauge(
    'fxd_http_waiting_requests',
    'Requests that wait for earlier ones of their key.',
    [],
    (gauge) => gauge.set(concurrency.waiting),
  )
  metrics.counter(
    'fxd_http_overloaded_requests_total',
    'Requests rejected because earlier ones of their key took too long.',
    [],
    (counter) => counter.inc(concurrency.refused),
  )
  return concurrency
}

declare module 'fastify' {
  interface FastifyRequest {
    deadline: Deadline
  }
}

/** Gives every request a deadline from its start to the end of its answer or its connection. */
export function setDeadlines(app: FastifyInstance, clock: Clock): void {
  app.addHook('onRequest', (request, reply, next) => {
    const deadline = new Deadline(clock)
    request.deadline = deadline
    reply.raw.once('close', () => deadline.end())
    next()
  })
}

/** Maximum bytes of a body that are skipped to keep the connection; a longer body closes it. */
const skippedBytesMax = 65_536

/** Refuses requests with a body. No endpoint accepts one, so no body is ever parsed. */
export function refuseBodies(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, next) => {
    if (bodyBytes(request.raw) > skippedBytesMax) setHeaders(reply, { Connection: 'close' })
    next()
  })
  app.addHook('preHandler', (request, _reply, next) => {
    if (bodyBytes(request.raw) > 0)
      next(new Failure('INVALID_PARAMS', 'The request has a body; send it without a body.'))
    else next()
  })
}

function bodyBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY
  return Number(headers['content-length'] ?? 0)
}
