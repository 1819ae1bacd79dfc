import type { RequestListener } from 'node:http'
import { faultPlace } from '../core/fault-place.ts'
import { answerError } from '../platform/http/error-answer.ts'
import type { Log } from '../platform/log/log.ts'
import type { Metrics } from '../platform/metrics.ts'

/** Answers 500 for a defect outside of routes and hooks. The framework does not catch it: it would end the process. */
export function containFaults(handle: RequestListener, log: Log, metrics: Metrics): RequestListener {
  const faults = metrics.counter(
    'fxd_http_faults_total',
    'Requests that failed by a defect outside of their route; defects inside are counted as status 500.',
  )
  return (request, response) => {
    try {
      handle(request, response)
    } catch (cause) {
      faults.inc()
      log.error(faultPlace(cause), 'request failed before its route: a defect in fxd')
      if (response.headersSent) return void response.destroy()
      answerError(response, { code: 'SERVER_ERROR' })
    }
  }
}
