import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../../platform/metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import { KeyConcurrency } from '../key-concurrency.ts'

/** A request of a key waits until fewer of its key are under way; its place is free when its answer was taken. */
export function limitConcurrency(app: FastifyInstance, clock: Clock, metrics: Metrics): void {
  const concurrency = new KeyConcurrency(clock)
  metrics.gauge(
    'fxd_http_waiting_requests',
    'Requests that wait for earlier ones of their key.',
    [],
    (gauge) => gauge.set(concurrency.waiting),
  )
  metrics.counter(
    'fxd_http_overloaded_requests_total',
    'Requests that earlier ones of their key left no time for.',
    [],
    (counter) => counter.inc(concurrency.refused),
  )
  app.addHook('onRequest', async ({ caller, deadline }, reply) => {
    if (!caller) return
    await concurrency.enter(caller.id, () => deadline.ended)
    const leave = (): void => concurrency.leave(caller.id)
    if (reply.raw.destroyed) leave()
    else reply.raw.once('close', leave)
  })
}
