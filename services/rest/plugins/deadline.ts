import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../ports/clock.ts'
import { Deadline } from '../deadline.ts'

declare module 'fastify' {
  interface FastifyRequest {
    deadline: Deadline
  }
}

/** Every request has its deadline from its first moment; it ends with the answer or with the client. */
export function setDeadlines(app: FastifyInstance, clock: Clock): void {
  app.addHook('onRequest', (request, reply, next) => {
    const deadline = new Deadline(clock)
    request.deadline = deadline
    reply.raw.once('close', () => deadline.end())
    next()
  })
}
