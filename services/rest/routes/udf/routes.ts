import type { FastifyInstance } from 'fastify'
import { type TObject, Type } from 'typebox'
import type { NewestBars } from '../../../bars/newest-bars.ts'
import { toSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Endpoint } from '../../../core/keys/usage.ts'
import { sendJson } from '../../answer.ts'
import { chartPath, chartTokenPath } from '../../chart-path.ts'
import type { RestDeps } from '../../deps.ts'
import type { FairTurns } from '../../fair-turns.ts'
import { addKeyed, type Route } from '../../route.ts'
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
    query: Q,
    handle: Route<Q>['handle'],
  ): void => addKeyed(app, chartPath(name), { endpoint, query }, handle, deps)
  add('config', 'config', Type.Object({}), (_, { key, view }) => chartConfig(key, view))
  add('symbols', 'symbols', symbolQuery, ({ symbol }, { key, view }) =>
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

export function addChartTokenRoute(app: FastifyInstance, deps: RestDeps): void {
  app.get(chartTokenPath, { config: { endpoint: 'config' } }, (request, reply) =>
    sendJson(reply, chartTokenAnswer(request, deps)),
  )
}
