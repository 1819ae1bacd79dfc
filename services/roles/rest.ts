import type { Config } from '../platform/config.ts'
import { drainAndStop, noticeMsOf, type Stoppable } from '../platform/process/drain-and-stop.ts'
import { type ProcessContext, runProcess } from '../platform/process/process-context.ts'
import { createRest, type Rest } from '../rest/create-rest.ts'
import { requestConnectionsMax, startHttp } from './http.ts'
import { openRuntime, type Reading, type Runtime, startReading } from './runtime.ts'
import { type RoleOverrides, requireStores } from './stores.ts'

export interface RunningRest extends Stoppable {
  readonly httpPort: number
  readonly opsPort: number
}

/** Runs REST on shared stores; any number of such processes may share one address. */
export function startRest(config: Config, overrides: RoleOverrides = {}): Promise<RunningRest> {
  return runProcess(config, overrides, async (context) => {
    if (!overrides.stores) requireStores('rest', config)
    const runtime = await openRuntime(context, overrides, 'rest', { http: requestConnectionsMax })
    const { health, ports } = runtime
    const rest = await startRestEdge(context, runtime, await startReading(context, runtime))
    // Listens before the stores are available: clients should get an error rather than no answer.
    const { handler: handle, callerOf } = rest
    const httpPort = await startHttp(context, { handle, callerOf, connectionsMax: ports.http })
    health.listening()
    await runtime.loaded()
    return {
      httpPort,
      opsPort: health.port,
      ...drainAndStop(context, health, (skipped) => context.clock.sleep(noticeMsOf(context), skipped)),
    }
  })
}

export function startRestEdge(context: ProcessContext, runtime: Runtime, reading: Reading): Promise<Rest> {
  const { config, clock, log, metrics, lifecycle } = context
  const { stores, registry } = runtime
  const { trustedProxies } = config
  return lifecycle.start({
    name: 'rest',
    start: () => createRest({ ...stores, ...reading, registry, clock, log, metrics, trustedProxies }),
    stop: (rest) => rest.close(),
  })
}
