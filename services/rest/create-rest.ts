import type { IncomingMessage, RequestListener } from 'node:http'
import { type FastifyInstance, fastify } from 'fastify'
import type { TObject } from 'typebox'
import { chartTokenLengthMax } from '../access/chart-token.ts'
import { createNewestBars } from '../bars/newest-bars.ts'
import { pathOf } from '../platform/http/request-path.ts'
import { isJsonText, sendJson, sendText } from './answer.ts'
import { onePathOf } from './chart-path.ts'
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
import { parseQuery } from './query.ts'
import { type OpenRoute, pathOfEndpoint, type Route } from './route.ts'
import { addAsyncapiRoute } from './routes/asyncapi/route.ts'
import { configRoute } from './routes/config/route.ts'
import { createCoverageRoute } from './routes/coverage/route.ts'
import { createHistoryRoute } from './routes/history/route.ts'
import { openapiDocument } from './routes/openapi/document.ts'
import { addOpenapiRoute } from './routes/openapi/route.ts'
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
    { schema: configRoute.schema, needsKey: false },
    ...keyed.map(({ schema }) => ({ schema, needsKey: true })),
  ])
  const identify = createIdentify(deps)
  const newest = createNewestBars(deps.history, deps.bus, deps.clock)
  const concurrency = createConcurrency(deps.clock, deps.metrics)

  addStreamRoute(app)
  addOpenapiRoute(app, openapi)
  addAsyncapiRoute(app)
  addPageRoutes(app)
  await app.register(async (open) => {
    acceptKey(open, identify)
    countOnly(open, deps.limits, deps.log)
    addOpen(open, configRoute, deps)
  })
  await app.register(async (guarded) => {
    requireKey(guarded, identify)
    countOrRefuse(guarded, deps.limits)
    limitConcurrency(guarded, concurrency)
    for (const route of keyed) addKeyed(guarded, route as Route, deps)
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
  return (/^\/[^%]*$/.test(path) ? onePathOf(path) : '/unknown') + (query < 0 ? '' : target.slice(query))
}

function addKeyed<Q extends TObject>(
  app: FastifyInstance,
  route: Route<Q>,
  { registry, clock }: RestDeps,
): void {
  const { endpoint, query: schema } = route.schema
  app.get(pathOfEndpoint(endpoint), { config: { endpoint } }, async (request, reply) => {
    const { caller: key, deadline } = request
    if (!key) throw new Error(`${endpoint} was reached without a key`)
    const query = parseQuery(schema, request.query as URLSearchParams)
    const body = await deadline.within(
      Promise.resolve(
        route.handle(query, { key, view: registry.view(), deadline, reader: deadline.readerOf(key.id) }),
      ),
    )
    return isJsonText(body) ? sendText(reply, body, clock) : sendJson(reply, body)
  })
}

function addOpen<Q extends TObject>(app: FastifyInstance, route: OpenRoute<Q>, { registry }: RestDeps): void {
  const { endpoint, query: schema } = route.schema
  app.get(pathOfEndpoint(endpoint), { config: { endpoint } }, async (request, reply) => {
    const query = parseQuery(schema, request.query as URLSearchParams)
    const { deadline } = request
    const call = { view: registry.view(), deadline }
    return sendJson(reply, await deadline.within(Promise.resolve(route.handle(query, call))))
  })
}
