import { formatAddress } from '../listen.ts'
import { type Health, type HealthDeps, openHealth } from './health.ts'
import { onlyOps, sharePorts } from './port-shares.ts'
import type { ProcessContext } from './process-context.ts'

/** Some processes load no registry; `connectionsMax` is of a process with more ports. */
type StartHealth = Partial<Pick<HealthDeps, 'loaded' | 'connectionsMax'>>

export async function startHealth(context: ProcessContext, options: StartHealth = {}): Promise<Health> {
  const { config, clock, log, metrics, lifecycle, handles } = context
  const { loaded = () => true, connectionsMax = sharePorts(onlyOps, log).ops } = options
  const acceptFailed = (cause: Error): void => handles.failed('ops', cause)
  const health = await lifecycle.start({
    name: 'health',
    start: () =>
      openHealth({ address: config.opsAddr, loaded, metrics, connectionsMax, acceptFailed }, clock),
    stop: (started) => started.close(),
  })
  const listening = (): void => {
    health.listening()
    log.info({ ops: formatAddress({ ...config.opsAddr, port: health.port }) }, 'listening')
  }
  return { ...health, listening }
}
