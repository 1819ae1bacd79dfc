import type { FastifyInstance } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import type { FailureCode } from '../core/failure.ts'
import type { Reader } from '../core/fair-queue.ts'
import type { KeyRecord } from '../core/keys/api-key.ts'
import type { Endpoint } from '../core/keys/usage.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import { isJsonText, type JsonText, sendJson, sendText } from './answer.ts'
import type { Deadline } from './deadline.ts'
import type { RestDeps } from './deps.ts'
import { parseQuery } from './query.ts'

/** The description of an endpoint, from which its route and its part of /openapi.json are made. */
export interface RouteSchema<Q extends TObject = TObject> {
  readonly endpoint: Endpoint
  readonly summary: string
  readonly query: Q
  readonly answer: TSchema
  /** Failures besides those that every path has. */
  readonly failures: readonly FailureCode[]
}

/** A request that was authenticated and counted. */
export interface Call {
  readonly key: KeyRecord
  readonly view: RegistryView
  readonly deadline: Deadline
  /** The reader for reads of the store, where keys take turns. */
  readonly reader: Reader
}

type Body = object | JsonText

/** Checks the grant, looks up the symbol, and returns the answer's body. */
export interface Route<Q extends TObject = TObject> {
  readonly schema: RouteSchema<Q>
  readonly handle: (query: Static<Q>, call: Call) => Body | Promise<Body>
}

export const pathOfEndpoint = (endpoint: Endpoint): string => `/v1/${endpoint}`

/** Adds a route. A hook before it must refuse requests without a key. */
export function addKeyed<Q extends TObject>(
  app: FastifyInstance,
  path: string,
  { endpoint, query: schema }: Pick<RouteSchema<Q>, 'endpoint' | 'query'>,
  handle: Route<Q>['handle'],
  { registry, clock }: Pick<RestDeps, 'registry' | 'clock'>,
): void {
  app.get(path, { config: { endpoint } }, async (request, reply) => {
    const { caller: key, deadline } = request
    if (!key) throw new Error(`${path} was reached without a key`)
    const query = parseQuery(schema, request.query as URLSearchParams)
    const call = { key, view: registry.view(), deadline, reader: deadline.readerOf(key.id) }
    const body = await deadline.within(Promise.resolve(handle(query, call)))
    return isJsonText(body) ? sendText(reply, body, clock) : sendJson(reply, body)
  })
}
