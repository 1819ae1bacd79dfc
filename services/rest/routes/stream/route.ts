import type { FastifyInstance } from 'fastify'
import { Failure } from '../../../core/failure.ts'

/** Answers a request for the WebSocket's path without an upgrade; upgrades are handled elsewhere. */
export function addStreamRoute(app: FastifyInstance): void {
  app.get('/v1/stream', () => {
    throw new Failure('UPGRADE_REQUIRED')
  })
}
