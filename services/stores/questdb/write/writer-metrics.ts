import { type Counter, type Histogram, type Metrics, secondsBuckets } from '../../../platform/metrics.ts'

export interface WriterMetrics {
  readonly failures: Counter
  readonly ack: Histogram
  readonly visible: Histogram
}

export const writerMetrics = (metrics: Metrics): WriterMetrics => ({
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
