import type { FastifyInstance, FastifyReply } from 'fastify'
import { RateExceeded } from '../../access/admit.ts'
import { allowedMethods, preflightHeaders } from '../../core/cross-origin.ts'
import { errorBody, Failure, failures, Overloaded, refusalHeaders, Unavailable } from '../../core/failure.ts'
import { failureFields } from '../../core/fault-place.ts'
import { pathOf } from '../../platform/http/request-path.ts'
import { LimitedLog } from '../../platform/log/limited-log.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import { sendJson, setHeaders } from '../answer.ts'
import { chartPath, isOfChart, withoutToken } from '../chart-path.ts'
import { pathOfEndpoint } from '../route.ts'
import { configView } from '../symbol-view.ts'
import { setExceeded } from './headers.ts'

/** The text does not blame the key: others may use the memory that all keys share. */
const overloaded = 'requests rejected: too many requests of the key at once, or no memory for long answers'
const dependencyRetrySeconds = 2

/** The only place where a failure becomes an answer. Its cause, or the place of a defect, appears in the log only. */
export function answerFailures(app: FastifyInstance, log: Log, clock: Clock): void {
  const overloads = new LimitedLog(log, clock)
  app.addHook('onClose', () => overloads.flush())
  app.setErrorHandler((error, request, reply) => {
    const failure = failureOf(error)
    const { prefix: keyPrefix } = request.caller ?? {}
    if (error instanceof Overloaded && keyPrefix !== undefined)
      overloads.write('warn', { keyPrefix }, overloaded, keyPrefix)
    else if (failure.code === 'SERVER_ERROR' && !reply.raw.destroyed)
      log.error({ id: request.id, ...failureFields(failure.cause) }, 'request failed')
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
  const { url, originalUrl } = reply.request
  const isChart = isOfChart(pathOf(originalUrl))
  // A charting client ignores the status, and takes a body without `s` for an answer.
  const status = isChart ? 200 : failures[code].status
  if (retryAfterSeconds !== undefined) setHeaders(reply, { 'Retry-After': retryAfterSeconds })
  if (failure instanceof RateExceeded) setExceeded(reply, failure)
  setHeaders(reply, refusalHeaders(status))
  const body = errorBody(code, message)
  // The charting library reads `s` and `errmsg`, other clients read `error`. It never starts without the fields of a config.
  const config = withoutToken(pathOf(url)) === chartPath('config') && configView([])
  const chartBody = { ...config, s: 'error', errmsg: message, ...body }
  sendJson(reply.code(status), isHistory || isChart ? chartBody : body)
}

/**
 * Answers requests without a route: unknown paths, other methods, preflights. It runs before a body is read. The
 * framework's own handler would log the raw URL, and with it a key.
 */
export function refuseUnknown(app: FastifyInstance): void {
  const paths = new Set<string>()
  app.addHook('onRoute', (route) => void paths.add(route.url))
  app.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next()
    if (!paths.has(withoutToken(pathOf(request.url)))) return next(new Failure('NOT_FOUND'))
    setHeaders(reply, { Allow: allowedMethods })
    if (request.method !== 'OPTIONS') return next(new Failure('METHOD_NOT_ALLOWED'))
    setHeaders(reply, preflightHeaders)
    reply.code(204).send()
  })
  app.setNotFoundHandler(() => {
    throw new Failure('NOT_FOUND')
  })
}
