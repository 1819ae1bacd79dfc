import type { FastifyInstance } from 'fastify'
import { jsonType } from '../../../platform/http/error-answer.ts'

export function addOpenapiRoute(app: FastifyInstance, document: object): void {
  const text = JSON.stringify(document)
  app.get('/openapi.json', (_request, reply) => reply.type(jsonType).send(text))
}
