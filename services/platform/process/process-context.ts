import type { Clock } from '../../ports/clock.ts'
import type { Config } from '../config.ts'
import { type Log, openProcessLog, type ProcessLog } from '../log/log.ts'
import { createMetrics, type Metrics } from '../metrics.ts'
import { systemClock } from '../system-clock.ts'
import { packageVersion } from '../version.ts'
import { collectBeforeMinuteEnd, collectYoung } from './garbage.ts'
import { HandleWatch } from './handle-watch.ts'
import { createLifecycle, type Lifecycle } from './lifecycle.ts'

export interface ProcessContext {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly lifecycle: Lifecycle
  readonly handles: HandleWatch
}

/** What tests use in place of the clock and log of the process. */
export interface Overrides {
  readonly clock?: Clock
  readonly log?: Log
  /** Ends a start that waits for a store; the start rejects with `EndedWhileWaiting`. */
  readonly ending?: AbortSignal
}

/** Maximum wait for standard error to accept the last lines; the rest is lost. */
const logFlushTimeoutMs = 500

/** Starts the parts of a process; when one fails to start, earlier ones are stopped again. */
export async function runProcess<T>(
  config: Config,
  overrides: Overrides,
  start: (context: ProcessContext) => Promise<T>,
): Promise<T> {
  const clock = overrides.clock ?? systemClock
  const metrics = createMetrics({ ofProcess: overrides.clock === undefined })
  metrics
    .gauge('fxd_build_info', 'Always 1; the label is the version of fxd', ['version'])
    .set({ version: packageVersion() }, 1)
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
    await lifecycle.start({
      name: 'garbage',
      start: () => collectBeforeMinuteEnd(clock, collectYoung),
      stop: (cancel) => cancel(),
    })
    return await start({ config, clock, log, metrics, lifecycle, handles })
  } catch (cause) {
    await lifecycle.stop()
    throw cause
  }
}

/** The first part, so that it stops last. */
function startLog(own: ProcessLog, metrics: Metrics, lifecycle: Lifecycle): Promise<unknown> {
  metrics.counter(
    'fxd_log_dropped_lines_total',
    'Log lines dropped because standard error was blocked and the queue was full.',
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
