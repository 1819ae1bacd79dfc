import { createCoverage } from '../bars/coverage.ts'
import { createHistory } from '../bars/history.ts'
import { createTail } from '../bars/tail.ts'
import type { ProcessContext } from '../platform/process-context.ts'
import type { Ground } from './ground.ts'

/** What a reader sees of the bars: the store, and the tail of the bus laid over it. */
export interface Reading {
  readonly history: ReturnType<typeof createHistory>
  readonly coverage: ReturnType<typeof createCoverage>
}

export async function startReading(context: ProcessContext, { stores, registry }: Ground): Promise<Reading> {
  const { clock, log, metrics, lifecycle } = context
  const tail = await lifecycle.start({
    name: 'tail',
    start: () => createTail(stores.bus),
    stop: (started) => started.close(),
  })
  metrics.counter(
    'fxd_tail_dropped_bars_total',
    'Live bars that left the tail at its bound, before the store was known to show them.',
    [],
    (counter) => counter.inc(tail.dropped),
  )
  const shared = { ...stores, registry, clock, log, metrics, tail }
  return { history: createHistory(shared), coverage: createCoverage(shared) }
}
