import type { TObject } from 'typebox'
import { type FailureCode, failures, upgradeStatus } from '../../../core/failure.ts'
import { exceededHeader, rateHeaderNames } from '../../plugins/rate-headers.ts'
import { pathOfEndpoint, type RouteSchema } from '../../route.ts'
import { errorAnswer, historyErrorAnswer } from '../../schemas.ts'

const ofKeys: readonly FailureCode[] = [
  'UNAUTHORIZED',
  'KEY_INVALID',
  'KEY_INACTIVE',
  'KEY_EXPIRED',
  'IP_NOT_ALLOWED',
  'RATE_LIMIT_EXCEEDED',
]
/** A body is refused everywhere, and anything may fail. */
const ofAll: readonly FailureCode[] = ['INVALID_PARAMS', 'SERVER_ERROR']
const ofStream: readonly FailureCode[] = [
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'KEY_INVALID',
  'KEY_INACTIVE',
  'KEY_EXPIRED',
  'IP_NOT_ALLOWED',
  'INVALID_PARAMS',
  'UPGRADE_REQUIRED',
  'TOO_MANY_CONNECTIONS',
  'SERVER_ERROR',
]

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const integerHeader = { schema: { type: 'integer' } }
const rateHeaders = Object.fromEntries(rateHeaderNames.map((name) => [name, integerHeader]))
const limitHeaders = {
  'Retry-After': integerHeader,
  [exceededHeader]: { schema: { enum: ['minute', 'day'] } },
}
/** Upgrades have no rate, and say what the cap is. */
const capHeaders = {
  'Retry-After': integerHeader,
  'X-Ws-Connections-Limit': integerHeader,
  'X-Ws-Connections-In-Use': integerHeader,
}

/** OpenAPI 3.1 of the whole edge, from the very schemas that queries are read by. */
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
        'Live and historical OHLCV bars of trading instruments over REST and WebSocket. Frames: /asyncapi.json.',
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
      200: { description: 'The answer.', headers: rateHeaders, ...json(answer) },
      ...refusals(codes, refusal, (code) => failures[code].status, { ...rateHeaders, ...limitHeaders }),
    },
  }
}

const parametersOf = (query: TObject) =>
  Object.entries<object>(query.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    // A parameter with a default may be left out.
    required: (query.required ?? []).includes(name) && !('default' in schema),
    schema,
  }))

/** One response per status; its description names the codes. */
function refusals(
  codes: readonly FailureCode[],
  schema: object,
  statusOf: (code: FailureCode) => number,
  headersOf429: object,
) {
  const byStatus = Map.groupBy(new Set(codes), statusOf)
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((code) => `${code}: ${failures[code].message}`).join(' '),
        ...(status === 429 && { headers: headersOf429 }),
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
      description: 'SERVER_ERROR while slots cannot be proven.',
      headers: { 'Retry-After': integerHeader },
      ...json(errorAnswer),
    },
    ...refusals(ofStream, errorAnswer, upgradeStatus, capHeaders),
  },
}
