import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticate } from '../../access/authenticate.ts'
import { clientAddress } from '../../access/client-address.ts'
import { credential } from '../../access/credential.ts'
import type { KeyRecord } from '../../core/api-key.ts'
import { Failure } from '../../core/failure.ts'
import { addressMatcher } from '../../platform/addresses.ts'
import type { RestDeps } from '../deps.ts'

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
