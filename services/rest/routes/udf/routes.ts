import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Static, type TObject, Type } from 'typebox'
import type { NewestBars } from '../../../bars/newest-bars.ts'
import { toSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Endpoint } from '../../../core/keys/usage.ts'
import { isJsonText, type JsonText, sendJson, sendText } from '../../answer.ts'
import { chartPath, chartTokenPath } from '../../chart-path.ts'
import type { RestDeps } from '../../deps.ts'
import type { FairTurns } from '../../fair-turns.ts'
import { parseQuery } from '../../query.ts'
import type { Call } from '../../route.ts'
import { chartHistory, chartHistoryQuery } from './history.ts'
import { chartConfig, chartSymbol, chartSymbolView, searchSymbols } from './symbols.ts'
import { chartTokenAnswer } from './token.ts'

const symbolQuery = Type.Object({ symbol: Type.String() })
const searchQuery = Type.Object({
  query: Type.Optional(Type.String({ maxLength: 200 })),
  type: Type.Optional(Type.String()),
  exchange: Type.Optional(Type.String()),
  limit: Type.Integer({ minimum: 1, default: 30, 'x-clamp-above': 1_000 }),
})

/** Endpoints of a charting client behind a token. Usage counts each as the endpoint of `/v1` that is most like it. */
export function addChartRoutes(
  app: FastifyInstance,
  deps: RestDeps,
  { newest, turns }: { readonly newest: NewestBars; readonly turns: FairTurns },
): void {
  const { clock, history } = deps
  const add = <Q extends TObject>(
    name: string,
    endpoint: Endpoint,
    schema: Q,
    handle: (query: Static<Q>, call: Call) => Promise<JsonText | object>,
  ): void => {
    app.get(chartPath(name), { config: { endpoint } }, async (request, reply) => {
      const query = parseQuery(schema, request.query as URLSearchParams)
      const body = await request.deadline.within(handle(query, callOf(request, deps)))
      return isJsonText(body) ? sendText(reply, body, clock) : sendJson(reply, body)
    })
  }
  add('config', 'config', Type.Object({}), async (_, { key, view }) => chartConfig(key, view))
  add('symbols', 'symbols', symbolQuery, async ({ symbol }, { key, view }) =>
    chartSymbolView(chartSymbol(symbol, key, view)),
  )
  add('search', 'symbols', searchQuery, async (search, { key, view, reader }) => {
    await turns.enter(reader)
    return searchSymbols(search, key, view)
  })
  add('history', 'history', chartHistoryQuery, (query, call) =>
    chartHistory(query, call, { history, newest, turns, clock }),
  )
  app.get(chartPath('time'), { config: { endpoint: 'status' } }, (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(String(toSeconds(clock.utcMs()))),
  )
}

function callOf({ caller: key, deadline }: FastifyRequest, { registry }: RestDeps): Call {
  if (!key) throw new Error('a chart was reached without a token')
  return { key, view: registry.view(), deadline, reader: deadline.readerOf(key.id) }
}

export function addChartTokenRoute(app: FastifyInstance, deps: RestDeps): void {
  app.get(chartTokenPath, { config: { endpoint: 'config' } }, (request, reply) =>
    sendJson(reply, chartTokenAnswer(request, deps)),
  )
}
