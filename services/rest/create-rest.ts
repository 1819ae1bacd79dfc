import type { IncomingMessage, RequestListener } from 'node:http'
import { type FastifyInstance, fastify } from 'fastify'
import { chartTokenLengthMax } from '../access/chart-token.ts'
import { createNewestBars } from '../bars/newest-bars.ts'
import { jsonType } from '../platform/http/error-answer.ts'
import { pathOf } from '../platform/http/request-path.ts'
import { trimmedPath } from './chart-path.ts'
import { containFaults } from './contain-faults.ts'
import type { RestDeps } from './deps.ts'
import { FairTurns } from './fair-turns.ts'
import {
  acceptKey,
  countOnly,
  countOrRefuse,
  countPolls,
  createCallerOf,
  createIdentify,
  createIdentifyChart,
  requireKey,
} from './plugins/authenticate.ts'
import { allowAnyOrigin } from './plugins/cors.ts'
import { answerFailures, refuseUnknown } from './plugins/errors.ts'
import { addAnswerHeaders, addRequestId, makeRequestId } from './plugins/headers.ts'
import { createConcurrency, limitConcurrency, refuseBodies, setDeadlines } from './plugins/limits.ts'
import { logRequests, measureRequests } from './plugins/log-and-metrics.ts'
import { addKeyed, pathOfEndpoint, type Route } from './route.ts'
import { asyncapiDocument } from './routes/asyncapi/document.ts'
import { addConfigRoute } from './routes/config/route.ts'
import { configSchema } from './routes/config/schema.ts'
import { createCoverageRoute } from './routes/coverage/route.ts'
import { createHistoryRoute } from './routes/history/route.ts'
import { openapiDocument } from './routes/openapi/document.ts'
import { addPageRoutes } from './routes/page/route.ts'
import { createStatusRoute } from './routes/status/route.ts'
import { addStreamRoute } from './routes/stream/route.ts'
import { createSymbolsRoute } from './routes/symbols/route.ts'
import { addChartRoutes, addChartTokenRoute } from './routes/udf/routes.ts'
import { createUsageRoute } from './routes/usage/route.ts'

export interface Rest {
  /** For the HTTP server of the role; it handles no upgrades. */
  readonly handler: RequestListener
  /** The id of the key that a request offers; empty without a known key. */
  readonly callerOf: (request: IncomingMessage) => string
  readonly openapi: object
  close(): Promise<void>
}

/** The HTTP edge. It opens no port. */
export async function createRest(deps: RestDeps): Promise<Rest> {
  const app = createApp(deps)
  const turns = new FairTurns(deps.clock)
  const keyed = [
    createSymbolsRoute(turns),
    createHistoryRoute(deps, turns),
    createCoverageRoute(deps),
    createStatusRoute(deps),
    createUsageRoute(deps),
  ] as const
  const openapi = openapiDocument([
    { schema: configSchema, needsKey: false },
    ...keyed.map(({ schema }) => ({ schema, needsKey: true })),
  ])
  const identify = createIdentify(deps)
  const newest = createNewestBars(deps.history, deps.bus, deps.clock)
  const concurrency = createConcurrency(deps.clock, deps.metrics)

  addStreamRoute(app)
  addDocument(app, '/openapi.json', openapi)
  addDocument(app, '/asyncapi.json', asyncapiDocument())
  addPageRoutes(app)
  await app.register(async (open) => {
    acceptKey(open, identify)
    countOnly(open, deps.limits, deps.log)
    addConfigRoute(open, deps)
  })
  await app.register(async (guarded) => {
    requireKey(guarded, identify)
    countOrRefuse(guarded, deps.limits)
    limitConcurrency(guarded, concurrency)
    for (const { schema, handle } of keyed as readonly Route[])
      addKeyed(guarded, pathOfEndpoint(schema.endpoint), schema, handle, deps)
    addChartTokenRoute(guarded, deps)
  })
  await app.register(async (charts) => {
    requireKey(charts, createIdentifyChart(deps))
    countPolls(charts, deps.limits, deps.clock)
    limitConcurrency(charts, concurrency)
    addChartRoutes(charts, deps, { newest, turns })
  })
  await app.ready()
  const handle: RequestListener = (request, response) => app.routing(request, response)
  return {
    handler: containFaults(handle, deps.log, deps.metrics),
    callerOf: createCallerOf(deps),
    openapi,
    async close() {
      newest.close()
      await app.close()
    },
  }
}

/** Hooks run in this order, before those of a route's own scope. */
function createApp({ clock, log, metrics }: RestDeps): FastifyInstance {
  const app = fastify({
    // plugins/log-and-metrics logs requests: the framework's own line contains the raw URL, and with it a key.
    logger: false,
    genReqId: makeRequestId(clock),
    requestIdHeader: false,
    // platform/http/client-address finds the client's address; the framework trusts no proxy.
    trustProxy: false,
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => routedTarget(url),
    routerOptions: {
      maxParamLength: chartTokenLengthMax,
      querystringParser: (text) => new URLSearchParams(text) as never,
    },
  })
  addRequestId(app)
  addAnswerHeaders(app)
  allowAnyOrigin(app)
  setDeadlines(app, clock)
  measureRequests(app, metrics)
  logRequests(app, log)
  answerFailures(app, log, clock)
  refuseUnknown(app)
  refuseBodies(app)
  return app
}

/**
 * The target that the router receives. No path of this service needs an escape, so a path with an escape, or `*`,
 * is unknown. The router would answer a broken escape in the framework's own words.
 */
function routedTarget(target: string): string {
  const path = pathOf(target)
  const query = target.indexOf('?')
  return (/^\/[^%]*$/.test(path) ? trimmedPath(path) : '/unknown') + (query < 0 ? '' : target.slice(query))
}

/** Serves a description of the service, which never changes. */
function addDocument(app: FastifyInstance, path: string, document: object): void {
  const text = JSON.stringify(document)
  app.get(path, (_request, reply) => reply.type(jsonType).send(text))
}
