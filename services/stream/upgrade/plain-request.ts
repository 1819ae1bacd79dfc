import type { RequestListener } from 'node:http'
import { allowedMethods, anyOrigin, preflightHeaders } from '../../core/cross-origin.ts'
import { errorBody, type FailureCode, failures, refusalHeaders } from '../../core/failure.ts'
import { pathOf } from '../../platform/http/request-path.ts'

/**
 * Answers a request without an upgrade in a process that runs a shard only. The errors are those of REST: an
 * unknown path, a wrong method, or a missing upgrade.
 */
export const answerPlainRequest =
  (streamPath: string): RequestListener =>
  (request, response) => {
    const isStreamPath = pathOf(request.url ?? '') === streamPath
    response.setHeaders(new Map(Object.entries(anyOrigin)))
    if (isStreamPath && request.method === 'OPTIONS') {
      response.writeHead(204, { Allow: allowedMethods, ...preflightHeaders }).end()
      return
    }
    const code = faultOf(request.method, isStreamPath)
    const { status, message } = failures[code]
    const body = JSON.stringify(errorBody(code, message))
    if (code === 'METHOD_NOT_ALLOWED') response.setHeader('Allow', allowedMethods)
    response.writeHead(status, {
      ...refusalHeaders(status),
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
    })
    response.end(request.method === 'HEAD' ? undefined : body)
  }

function faultOf(method: string | undefined, isStreamPath: boolean): FailureCode {
  if (!isStreamPath) return 'NOT_FOUND'
  return method === 'GET' || method === 'HEAD' ? 'UPGRADE_REQUIRED' : 'METHOD_NOT_ALLOWED'
}
