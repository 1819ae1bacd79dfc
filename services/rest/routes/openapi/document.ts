import type { TObject } from 'typebox'
import { type FailureCode, failures, upgradeStatus } from '../../../core/failure.ts'
import { exceededHeader, rateHeaderNames } from '../../plugins/headers.ts'
import { pathOfEndpoint, type RouteSchema } from '../../route.ts'
import { errorAnswer, historyErrorAnswer } from '../../schemas.ts'

const ofCaller = ['UNAUTHORIZED', 'KEY_INVALID', 'KEY_INACTIVE', 'KEY_EXPIRED', 'IP_NOT_ALLOWED'] as const
const ofKeys: readonly FailureCode[] = [...ofCaller, 'RATE_LIMIT_EXCEEDED']
/** Failures of every path: each refuses a body, and each may fail. */
const ofAll: readonly FailureCode[] = ['INVALID_PARAMS', 'SERVER_ERROR']
const ofStream: readonly FailureCode[] = [
  'BAD_REQUEST',
  ...ofCaller,
  'INVALID_PARAMS',
  'UPGRADE_REQUIRED',
  'TOO_MANY_CONNECTIONS',
  'SERVER_ERROR',
]

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
type Headers = Readonly<Record<string, { readonly required: boolean; readonly schema: object }>>
const integerHeader = (required: boolean) => ({ required, schema: { type: 'integer' } })
const rateHeaders = (required: boolean): Headers =>
  Object.fromEntries(rateHeaderNames.map((name) => [name, integerHeader(required)]))
const challenge: Headers = { 'WWW-Authenticate': { required: true, schema: { type: 'string' } } }
/** Set if a dependency failed. */
const retryHeaders: Headers = { 'Retry-After': integerHeader(false) }
/** Upgrades have no rate; the refusal has the connection cap. */
const streamHeaders: Readonly<Record<number, Headers>> = {
  401: challenge,
  429: {
    'Retry-After': integerHeader(true),
    'X-Ws-Connections-Limit': integerHeader(true),
    'X-Ws-Connections-In-Use': integerHeader(true),
  },
  500: retryHeaders,
}

/** The headers of an answer about the key and its rate. */
function headersOf(status: number, needsKey: boolean): Headers {
  // Without a valid key nothing is counted.
  if (status === 401) return challenge
  if (status === 429)
    return {
      ...rateHeaders(true),
      'Retry-After': integerHeader(true),
      [exceededHeader]: { required: true, schema: { enum: ['minute', 'day'] } },
    }
  // A 500 may lack the rate headers, because the limits may have failed.
  return status === 500 ? { ...rateHeaders(false), ...retryHeaders } : rateHeaders(needsKey)
}

/** The OpenAPI 3.1 document of all endpoints, from the schemas that parse the queries. */
export function openapiDocument(schemas: readonly { schema: RouteSchema; needsKey: boolean }[]) {
  const paths: Record<string, object> = {}
  for (const { schema, needsKey } of schemas) {
    paths[pathOfEndpoint(schema.endpoint)] = { get: operation(schema, needsKey) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'fxd',
      version: 'v1',
      description:
        'Live and historical OHLCV bars of trading instruments over REST and WebSocket. Messages of the WebSocket: /asyncapi.json.',
    },
    servers: [{ url: '/' }],
    paths: { ...paths, '/v1/stream': { get: streamOperation } },
    components: {
      securitySchemes: {
        header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
        query: { type: 'apiKey', in: 'query', name: 'api_key' },
      },
    },
  }
}

const anyKey = [{ header: [] }, { bearer: [] }, { query: [] }]

function operation({ endpoint, summary, query, answer, failures: own }: RouteSchema, needsKey: boolean) {
  const codes = [...(needsKey ? ofKeys : []), ...own, ...ofAll]
  const refusal = endpoint === 'history' ? historyErrorAnswer : errorAnswer
  return {
    operationId: endpoint,
    summary,
    security: needsKey ? anyKey : [{}, ...anyKey],
    parameters: parametersOf(query),
    responses: {
      200: { description: 'The answer.', headers: headersOf(200, needsKey), ...json(answer) },
      ...refusals(
        codes,
        refusal,
        (code) => failures[code].status,
        (status) => headersOf(status, needsKey),
      ),
    },
  }
}

const parametersOf = (query: TObject) =>
  Object.entries<object>(query.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    // A parameter with a default is optional.
    required: (query.required ?? []).includes(name) && !('default' in schema),
    schema: Object.fromEntries(Object.entries(schema).filter(([word]) => !word.startsWith('x-'))),
  }))

/** One response per status; its description names the codes. */
function refusals(
  codes: readonly FailureCode[],
  schema: object,
  statusOf: (code: FailureCode) => number,
  headersOfStatus: (status: number) => Headers | undefined,
) {
  const byStatus = Map.groupBy(new Set(codes), statusOf)
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((code) => `${code}: ${failures[code].message}`).join(' '),
        headers: headersOfStatus(status),
        ...json(schema),
      },
    ]),
  )
}

const streamOperation = {
  operationId: 'stream',
  summary: 'Upgrades to a WebSocket that pushes each closed one-minute bar',
  security: anyKey,
  parameters: [],
  responses: {
    101: { description: 'The WebSocket is open.' },
    503: {
      description: 'SERVER_ERROR while the number of open connections is unknown.',
      headers: { 'Retry-After': integerHeader(true) },
      ...json(errorAnswer),
    },
    ...refusals(ofStream, errorAnswer, upgradeStatus, (status) => streamHeaders[status]),
  },
}
