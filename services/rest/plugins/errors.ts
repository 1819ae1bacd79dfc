import type { FastifyInstance, FastifyReply } from 'fastify'
import { RateExceeded } from '../../access/admit.ts'
import { errorBody, Failure, failures, Overloaded, Unavailable } from '../../core/failure.ts'
import { pathOf } from '../../platform/http/request-path.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import { sendJson, setHeaders } from '../answer.ts'
import { pathOfEndpoint } from '../route.ts'
import { OverloadLog } from './overload-log.ts'
import { setExceeded } from './rate-headers.ts'

const dependencyRetrySeconds = 2

/** The one place where a failure becomes an answer; what its cause says is for the log alone. */
export function answerFailures(app: FastifyInstance, log: Log, clock: Clock): void {
  const overloads = new OverloadLog(log, clock)
  app.addHook('onClose', () => overloads.flush())
  app.setErrorHandler((error, request, reply) => {
    const failure = failureOf(error)
    if (error instanceof Overloaded && request.caller) overloads.note(request.caller.prefix)
    else if (failure.code === 'SERVER_ERROR' && !reply.raw.destroyed)
      log.error({ id: request.id, err: failure.cause }, 'a request failed')
    answerFailure(reply, failure, pathOf(request.url) === pathOfEndpoint('history'))
  })
}

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  return new Failure('SERVER_ERROR', failures.SERVER_ERROR.message, {
    cause: error,
    ...(error instanceof Unavailable && { retryAfterSeconds: dependencyRetrySeconds }),
  })
}

function answerFailure(reply: FastifyReply, failure: Failure, isHistory: boolean): void {
  const { code, message, retryAfterSeconds } = failure
  const { status } = failures[code]
  if (retryAfterSeconds !== undefined) setHeaders(reply, { 'Retry-After': retryAfterSeconds })
  if (failure instanceof RateExceeded) setExceeded(reply, failure)
  if (status === 401) setHeaders(reply, { 'WWW-Authenticate': 'Bearer' })
  if (status === 426) setHeaders(reply, { Upgrade: 'websocket', Connection: 'Upgrade, close' })
  const body = errorBody(code, message)
  // The chart's client reads `s` and `errmsg`, everybody else `error`.
  sendJson(reply.code(status), isHistory ? { s: 'error', errmsg: message, ...body } : body)
}
