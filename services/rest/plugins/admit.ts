import type { FastifyInstance } from 'fastify'
import { admit } from '../../access/admit.ts'
import type { Endpoint } from '../../core/usage.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Limits } from '../../ports/limits.ts'
import { setRateHeaders } from './rate-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The counter of the route. */
    endpoint?: Endpoint
  }
}

/** Counts the request in both windows, or refuses it; either way its answer shows them. */
export function countOrRefuse(app: FastifyInstance, limits: Limits): void {
  app.addHook('onRequest', async (request, reply) => {
    const { caller, deadline, routeOptions } = request
    if (!caller || !routeOptions.config.endpoint) return
    setRateHeaders(reply, await deadline.within(admit(limits, caller, routeOptions.config.endpoint)))
  })
}

/** Counts the request of a known key without consuming anything; never refuses, whatever happens. */
export function countOnly(app: FastifyInstance, limits: Limits, log: Log): void {
  app.addHook('onRequest', async (request, reply) => {
    const { caller, deadline, routeOptions } = request
    if (!caller || !routeOptions.config.endpoint) return
    try {
      const observed = limits.observe(caller.id, caller.limits, routeOptions.config.endpoint)
      setRateHeaders(reply, await deadline.within(observed))
    } catch (cause) {
      log.warn({ id: request.id, err: cause }, 'a request could not be counted')
      deadline.restart()
    }
  })
}
