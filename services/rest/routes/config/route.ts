import type { FastifyInstance } from 'fastify'
import { sendJson } from '../../answer.ts'
import type { RestDeps } from '../../deps.ts'
import { pathOfEndpoint } from '../../route.ts'
import { configView } from '../../symbol-view.ts'
import { configSchema } from './schema.ts'

export function addConfigRoute(app: FastifyInstance, { registry }: Pick<RestDeps, 'registry'>): void {
  const { endpoint } = configSchema
  app.get(pathOfEndpoint(endpoint), { config: { endpoint } }, (_request, reply) =>
    sendJson(reply, configView(registry.view().feeds())),
  )
}
