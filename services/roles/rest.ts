import { chartKeyLengthMin } from '../access/chart-token.ts'
import { type Config, ConfigError } from '../platform/config.ts'
import type { Secrets } from '../platform/credentials/secrets.ts'
import { startSecrets } from '../platform/credentials/token.ts'
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
    const chartKeys = await startChartKeys(context, config.chartKeys)
    const rest = await startRestEdge(context, runtime, await startReading(context, runtime), chartKeys)
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

/** Keys of the tokens of charts, in the file at `path`. Throws a `ConfigError` if each of them is too short. */
export async function startChartKeys(context: ProcessContext, path: string | undefined): Promise<Secrets> {
  if (path === undefined) return () => []
  const keys = await startSecrets(context, { path, variable: 'FXD_CHART_KEYS' })
  if (keys().some(({ length }) => length >= chartKeyLengthMin)) return keys
  throw new ConfigError(
    `FXD_CHART_KEYS: each key in ${path} is shorter than ${chartKeyLengthMin} characters.`,
  )
}

export function startRestEdge(
  context: ProcessContext,
  runtime: Runtime,
  reading: Reading,
  chartKeys: Secrets,
): Promise<Rest> {
  const { config, clock, log, metrics, lifecycle } = context
  const { stores, registry } = runtime
  const { trustedProxies } = config
  return lifecycle.start({
    name: 'rest',
    start: () =>
      createRest({ ...stores, ...reading, registry, clock, log, metrics, trustedProxies, chartKeys }),
    stop: (rest) => rest.close(),
  })
}
