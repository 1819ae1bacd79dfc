import type { Static, TObject, TSchema } from 'typebox'
import type { FailureCode } from '../core/failure.ts'
import type { RegistryView } from '../core/feeds/registry.ts'
import type { KeyRecord } from '../core/keys/api-key.ts'
import type { Endpoint } from '../core/keys/usage.ts'
import type { Reader } from '../core/turns.ts'
import type { JsonText } from './answer.ts'
import type { Deadline } from './deadline.ts'

/** What an endpoint says about itself: its route and its part of /openapi.json are made from this. */
export interface RouteSchema<Q extends TObject = TObject> {
  readonly endpoint: Endpoint
  readonly summary: string
  readonly query: Q
  readonly answer: TSchema
  /** Refusals of its own, beyond those that every path has. */
  readonly failures: readonly FailureCode[]
}

/** A request of a key that was let in and counted. */
export interface Call {
  readonly key: KeyRecord
  readonly view: RegistryView
  readonly deadline: Deadline
  /** For the store: its key takes turns with others. */
  readonly reader: Reader
}

type Body = object | JsonText

/** Checks what is left, the grant and then the look-up, and gives the answer's body. */
export interface Route<Q extends TObject = TObject> {
  readonly schema: RouteSchema<Q>
  handle(query: Static<Q>, call: Call): Body | Promise<Body>
}

/** Needs no key, and is refused to none. */
export interface OpenRoute<Q extends TObject = TObject> {
  readonly schema: RouteSchema<Q>
  handle(query: Static<Q>, call: Omit<Call, 'key' | 'reader'>): Body | Promise<Body>
}

export const pathOfEndpoint = (endpoint: Endpoint): string => `/v1/${endpoint}`
