import type { FastifyInstance } from 'fastify'
import { jsonType } from '../../../platform/http/error-answer.ts'
import { asyncapiDocument } from './document.ts'

export function addAsyncapiRoute(app: FastifyInstance): void {
  const text = JSON.stringify(asyncapiDocument())
  app.get('/asyncapi.json', (_request, reply) => reply.type(jsonType).send(text))
}
