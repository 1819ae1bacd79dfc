import type { FastifyInstance, FastifyRequest } from 'fastify'
import { admit } from '../../access/admit.ts'
import { authenticate } from '../../access/authenticate.ts'
import { clientAddress } from '../../access/client-address.ts'
import { credential } from '../../access/credential.ts'
import { Failure } from '../../core/failure.ts'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { Endpoint } from '../../core/keys/usage.ts'
import { addressMatcher } from '../../platform/addresses.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Limits } from '../../ports/limits.ts'
import type { RestDeps } from '../deps.ts'
import { setRateHeaders } from './headers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request was authenticated. */
    caller: KeyRecord | undefined
  }
}

type Identify = (request: FastifyRequest) => KeyRecord

/** Tells whose request it is, or throws the `Failure` that refuses it. */
export function createIdentify({
  registry,
  clock,
  trustedProxies,
}: Pick<RestDeps, 'registry' | 'clock' | 'trustedProxies'>): Identify {
  const trusted = addressMatcher(trustedProxies)
  return ({ headers, query, socket }) => {
    // First of all: without a registry nobody can be told that a key is wrong.
    const view = registry.view()
    const offered = credential(headers, query as URLSearchParams)
    const address = clientAddress({
      peer: socket.remoteAddress,
      forwardedFor: headers['x-forwarded-for'],
      trusted,
    })
    return authenticate({ credential: offered, address }, view, clock.utcMs())
  }
}

export function requireKey(app: FastifyInstance, identify: Identify): void {
  app.addHook('onRequest', (request, _reply, next) => {
    request.caller = identify(request)
    next()
  })
}

/** A valid key is known and counted; any other is as none. */
export function welcomeKey(app: FastifyInstance, identify: Identify): void {
  app.addHook('onRequest', (request, _reply, next) => {
    try {
      request.caller = identify(request)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
    }
    next()
  })
}

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
