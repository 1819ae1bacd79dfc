import type { Metrics } from '../../../platform/metrics.ts'
import type { Threads } from './start.ts'

export function measureThreads(
  { writer, readers }: Pick<Threads, 'writer' | 'readers'>,
  metrics: Metrics,
): void {
  metrics.gauge('fxd_store_waiting', 'Calls that wait for the store, by kind.', ['kind'], (gauge) => {
    gauge.set({ kind: 'read' }, readers.waiting)
    gauge.set({ kind: 'write' }, writer.waiting)
  })
  metrics.gauge(
    'fxd_store_bar_writes_failing_seconds',
    'Seconds for which bars waited and none could be stored.',
    [],
    (gauge) => gauge.set(writer.failingMs / 1_000),
  )
  metrics.counter(
    'fxd_store_refused_total',
    'Calls that the store rejected: too many, timed out, or unavailable.',
    ['kind'],
    (counter) => {
      counter.inc({ kind: 'read' }, readers.refused)
      counter.inc({ kind: 'write' }, writer.refused)
    },
  )
}
