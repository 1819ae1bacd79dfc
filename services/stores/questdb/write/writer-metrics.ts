import { type Metrics, secondsBuckets } from '../../../platform/metrics.ts'

export type WriterMetrics = ReturnType<typeof writerMetrics>

export const writerMetrics = (metrics: Metrics) => ({
  failures: metrics.counter('fxd_questdb_write_failures_total', 'Requests with rows that failed.'),
  ack: metrics.histogram(
    'fxd_questdb_commit_seconds',
    'Time from sending rows to their commit.',
    secondsBuckets,
  ),
  visible: metrics.histogram(
    'fxd_questdb_visible_seconds',
    'Time from sending rows until they are readable.',
    secondsBuckets,
  ),
})
