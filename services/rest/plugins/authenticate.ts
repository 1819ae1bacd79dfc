import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { admit } from '../../access/admit.ts'
import { authenticate, keyIdOf } from '../../access/authenticate.ts'
import { credential } from '../../access/credential.ts'
import { Failure, Unavailable } from '../../core/failure.ts'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { Endpoint } from '../../core/keys/usage.ts'
import { addressMatcher } from '../../platform/addresses.ts'
import { clientAddress } from '../../platform/http/client-address.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Limits } from '../../ports/limits.ts'
import type { RestDeps } from '../deps.ts'
import { setRateHeaders } from './headers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set after authentication. */
    caller: KeyRecord | undefined
  }
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
}

type Identify = (request: FastifyRequest) => KeyRecord

/** Returns a function that finds the key of a request, or throws the `Failure` that refuses it. */
export function createIdentify({ registry, clock, trustedProxies }: RestDeps): Identify {
  const trusted = addressMatcher(trustedProxies)
  return ({ headers, query, socket }) => {
    // First of all: without a registry it is unknown whether a key is wrong.
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

/** Finds the id of the key that a request offers, before the request starts; empty without a known key. */
export function createCallerOf({ registry, clock }: Pick<RestDeps, 'registry' | 'clock'>) {
  return ({ headers, url = '' }: IncomingMessage): string => {
    try {
      return keyIdOf(credential(headers, url) ?? '', registry.view(), clock.utcMs()) ?? ''
    } catch (error) {
      if (error instanceof Failure || error instanceof Unavailable) return ''
      throw error
    }
  }
}

export function requireKey(app: FastifyInstance, identify: Identify): void {
  app.addHook('onRequest', (request, _reply, next) => {
    request.caller = identify(request)
    next()
  })
}

/** Identifies a valid key, so that it is counted; an invalid one counts as none. */
export function acceptKey(app: FastifyInstance, identify: Identify): void {
  app.addHook('onRequest', (request, _reply, next) => {
    try {
      request.caller = identify(request)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
    }
    next()
  })
}

/** Counts the request in both rate windows, or refuses it. The answer shows both windows in either case. */
export function countOrRefuse(app: FastifyInstance, limits: Limits): void {
  app.addHook('onRequest', async (request, reply) => {
    const { caller, deadline, routeOptions } = request
    if (!caller || !routeOptions.config.endpoint) return
    setRateHeaders(reply, await deadline.within(admit(limits, caller, routeOptions.config.endpoint)))
  })
}

/** Counts the request of a valid key without consuming its rate; never refuses it. */
export function countOnly(app: FastifyInstance, limits: Limits, log: Log): void {
  app.addHook('onRequest', async (request, reply) => {
    const { caller, deadline, routeOptions } = request
    if (!caller || !routeOptions.config.endpoint) return
    try {
      const observed = limits.observe(caller.id, caller.limits, routeOptions.config.endpoint)
      setRateHeaders(reply, await deadline.within(observed))
    } catch (cause) {
      log.warn({ id: request.id, err: cause }, 'limits unavailable; a request was not counted')
      deadline.restart()
    }
  })
}
