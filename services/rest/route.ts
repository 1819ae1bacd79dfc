import type { Static, TObject, TSchema } from 'typebox'
import type { FailureCode } from '../core/failure.ts'
import type { Reader } from '../core/fair-queue.ts'
import type { KeyRecord } from '../core/keys/api-key.ts'
import type { Endpoint } from '../core/keys/usage.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import type { JsonText } from './answer.ts'
import type { Deadline } from './deadline.ts'

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
  handle(query: Static<Q>, call: Call): Body | Promise<Body>
}

/** A route that ignores keys. */
export interface OpenRoute<Q extends TObject = TObject> {
  readonly schema: RouteSchema<Q>
  handle(query: Static<Q>, call: Omit<Call, 'key' | 'reader'>): Body | Promise<Body>
}

export const pathOfEndpoint = (endpoint: Endpoint): string => `/v1/${endpoint}`
