import type { FastifyInstance } from 'fastify'
import { Failure } from '../../../core/failure.ts'

/** The WebSocket's path, asked for without an upgrade: with one the request never gets here. */
export function addStreamRoute(app: FastifyInstance): void {
  app.get('/v1/stream', () => {
    throw new Failure('UPGRADE_REQUIRED')
  })
}
