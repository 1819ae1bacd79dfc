import type { Config } from '../platform/config.ts'
import { createLifecycle, type Lifecycle } from '../platform/lifecycle.ts'
import { createLog, type Log } from '../platform/log.ts'
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
}

export interface Overrides {
  readonly clock?: Clock
  readonly log?: Log
  /** Ends a start that waits for a store: it then rejects with `EndedWhileWaiting`. */
  readonly ending?: AbortSignal
  /** Stores of somebody else in the place of the configured ones. */
  readonly stores?: OpenedStores
}

/** Runs the parts of a role; when one cannot start, what was started before is stopped again. */
export async function inHouse<T>(
  config: Config,
  overrides: Overrides,
  start: (house: House) => Promise<T>,
): Promise<T> {
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? createLog(config.logLevel)
  const metrics = createMetrics({ ofProcess: overrides.clock === undefined })
  const lifecycle = createLifecycle(clock, log)
  try {
    return await start({ config, clock, log, metrics, lifecycle })
  } catch (cause) {
    await lifecycle.stop()
    throw cause
  }
}
