import type { Config } from '../platform/config.ts'
import { HandleWatch } from '../platform/handle-watch.ts'
import { createLifecycle, type Lifecycle } from '../platform/lifecycle.ts'
import { type Log, openProcessLog, type ProcessLog } from '../platform/log.ts'
import { createMetrics, type Metrics } from '../platform/metrics.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { Clock } from '../ports/clock.ts'
import type { OpenedStores } from './stores.ts'

/** What all parts of the process share. */
export interface House {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly lifecycle: Lifecycle
  readonly handles: HandleWatch
}

export interface Overrides {
  readonly clock?: Clock
  readonly log?: Log
  /** Ends a start that waits for a store: it then rejects with `EndedWhileWaiting`. */
  readonly ending?: AbortSignal
  /** Stores of somebody else in the place of the configured ones. */
  readonly stores?: OpenedStores
}

/** Lines that standard error has not taken by then are lost with the process. */
const logFlushTimeoutMs = 500

/** Runs the parts of a role; when one cannot start, what was started before is stopped again. */
export async function inHouse<T>(
  config: Config,
  overrides: Overrides,
  start: (house: House) => Promise<T>,
): Promise<T> {
  const clock = overrides.clock ?? systemClock
  const metrics = createMetrics({ ofProcess: overrides.clock === undefined })
  const own = openProcessLog(config.logFormat, config.logLevel)
  const log = overrides.log ?? own.log
  const lifecycle = createLifecycle(clock, log)
  if (log === own.log) await startLog(own, metrics, lifecycle)
  try {
    const handles = await lifecycle.start({
      name: 'handles',
      start: () => new HandleWatch({ clock, log, metrics }),
      stop: (started) => started.close(),
    })
    return await start({ config, clock, log, metrics, lifecycle, handles })
  } catch (cause) {
    await lifecycle.stop()
    throw cause
  }
}

/** First of all parts, so that it stops last. */
function startLog(own: ProcessLog, metrics: Metrics, lifecycle: Lifecycle): Promise<unknown> {
  metrics.counter(
    'fxd_log_dropped_lines_total',
    'Lines of the log that standard error did not take and that found no room in the queue.',
    [],
    (counter) => counter.inc(own.dropped()),
  )
  return lifecycle.start({
    name: 'log',
    start: () => own,
    stop: () => own.flush(),
    stopTimeoutMs: logFlushTimeoutMs,
  })
}
