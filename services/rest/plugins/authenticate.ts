import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { admit, admitPoll } from '../../access/admit.ts'
import { authenticate, keyIdOf } from '../../access/authenticate.ts'
import { authenticateChart, keyIdOfChart } from '../../access/chart-token.ts'
import { credential } from '../../access/credential.ts'
import { Failure, Unavailable } from '../../core/failure.ts'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { Endpoint } from '../../core/keys/usage.ts'
import { addressMatcher } from '../../platform/addresses.ts'
import { clientAddress } from '../../platform/http/client-address.ts'
import { pathOf } from '../../platform/http/request-path.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Limits } from '../../ports/limits.ts'
import { tokenOfPath } from '../chart-path.ts'
import { isPoll } from '../chart-poll.ts'
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
  return (request) => {
    // First of all: without a registry it is unknown whether a key is wrong.
    const view = registry.view()
    const offered = credential(request.headers, request.query as URLSearchParams)
    const address = addressOf(request, trusted)
    return authenticate({ credential: offered, address }, view, clock.utcMs())
  }
}

/** Returns a function that finds the key of the chart token in a request's path, or throws the `Failure` that refuses it. */
export function createIdentifyChart({ registry, clock, trustedProxies, chartKeys }: RestDeps): Identify {
  const trusted = addressMatcher(trustedProxies)
  return (request) => {
    const { token } = request.params as { readonly token: string }
    const address = addressOf(request, trusted)
    return authenticateChart({ token, address }, chartKeys(), registry.view(), clock.utcMs())
  }
}

const addressOf = ({ headers, socket }: FastifyRequest, trusted: (address: string) => boolean): string =>
  clientAddress({ peer: socket.remoteAddress, forwardedFor: headers['x-forwarded-for'], trusted })

/** Finds the id of the key that a request offers, before the request starts; empty without a known key. */
export function createCallerOf({
  registry,
  clock,
  chartKeys,
}: Pick<RestDeps, 'registry' | 'clock' | 'chartKeys'>) {
  return ({ headers, url = '' }: IncomingMessage): string => {
    const token = tokenOfPath(pathOf(url))
    try {
      if (token !== undefined) return keyIdOfChart(token, chartKeys()) ?? ''
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

/** Counts a poll in the windows of polls, and any other request of a chart as `countOrRefuse` does. */
export function countPolls(app: FastifyInstance, limits: Limits, clock: Clock): void {
  app.addHook('onRequest', async ({ caller, deadline, routeOptions, query }, reply) => {
    const { endpoint } = routeOptions.config
    if (!caller || !endpoint) return
    const isOfMemory = endpoint === 'history' && isPoll(query as URLSearchParams, clock.utcMs())
    const counted = isOfMemory ? admitPoll(limits, caller, endpoint) : admit(limits, caller, endpoint)
    setRateHeaders(reply, await deadline.within(counted))
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
