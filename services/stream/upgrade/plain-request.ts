import type { RequestListener } from 'node:http'
import { allowedMethods, anyOrigin, preflightHeaders } from '../../core/cross-origin.ts'
import type { FailureCode } from '../../core/failure.ts'
import { answerError } from '../../platform/http/error-answer.ts'
import { pathOf } from '../../platform/http/request-path.ts'

/** Answers a request without an upgrade, in a process that runs a shard only. The errors are those of REST. */
export const answerPlainRequest =
  (streamPath: string): RequestListener =>
  (request, response) => {
    const isStreamPath = pathOf(request.url ?? '') === streamPath
    if (isStreamPath && request.method === 'OPTIONS') {
      response.writeHead(204, { Allow: allowedMethods, ...anyOrigin, ...preflightHeaders }).end()
      return
    }
    const code = faultOf(request.method, isStreamPath)
    answerError(response, { code, headers: code === 'METHOD_NOT_ALLOWED' ? { Allow: allowedMethods } : {} })
  }

function faultOf(method: string | undefined, isStreamPath: boolean): FailureCode {
  if (!isStreamPath) return 'NOT_FOUND'
  return method === 'GET' || method === 'HEAD' ? 'UPGRADE_REQUIRED' : 'METHOD_NOT_ALLOWED'
}
