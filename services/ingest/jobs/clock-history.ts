import { clockReadingId, readingOfDefinition } from '../../core/registry/clock-history.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import type { RegistryBody } from '../../ports/registry.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { RegistryWriter } from '../../registry/writer.ts'

const retryMs = 10_000

export interface ClockHistoryDeps {
  readonly registry: Pick<FollowedRegistry, 'view' | 'loaded' | 'onChange'>
  readonly writer: RegistryWriter
  readonly clock: Clock
  readonly log: Log
}

/**
 * Adds the clocks of changed feed definitions to the clock history. Several processes may run it: each decides on
 * the newest registry, so a reading is added once. Returns the function that stops it.
 */
export function keepClockHistory({ registry, writer, clock, log }: ClockHistoryDeps): () => void {
  const missing = (view: RegistryView): readonly RegistryBody[] =>
    view.feeds().flatMap((definition) => {
      const body = readingOfDefinition(definition, view.clocksOf(definition.key), clock.utcMs())
      return body === undefined ? [] : [{ kind: 'clock', id: clockReadingId(body), body }]
    })
  let cancelRetry: Cancel = () => undefined
  let isStopped = false
  const check = (view: RegistryView): void => {
    cancelRetry()
    if (isStopped || missing(view).length === 0) return
    writer
      .change((newest) => ({ rows: missing(newest), result: undefined }))
      .catch((cause: unknown) => {
        log.warn({ err: cause }, 'failed to store the clock history; retrying')
        if (isStopped) return
        cancelRetry()
        cancelRetry = clock.after(retryMs, () => check(registry.view()))
      })
  }
  const unfollow = registry.onChange(check)
  if (registry.loaded) check(registry.view())
  return () => {
    isStopped = true
    cancelRetry()
    unfollow()
  }
}
