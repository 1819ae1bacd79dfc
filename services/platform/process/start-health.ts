import { type Health, openHealth } from './health.ts'
import type { ProcessContext } from './process-context.ts'

/** Opens the operations port as part of the process. `loaded`: see `HealthDeps`; some processes load no registry. */
export function startHealth(context: ProcessContext, loaded = (): boolean => true): Promise<Health> {
  const { config, clock, metrics, lifecycle, handles } = context
  const acceptFailed = (cause: Error): void => handles.failed('ops', cause)
  return lifecycle.start({
    name: 'health',
    start: () => openHealth({ address: config.opsAddr, loaded, metrics, acceptFailed }, clock),
    stop: (started) => started.close(),
  })
}
