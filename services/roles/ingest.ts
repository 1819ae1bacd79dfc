import { createIngest } from '../ingest/server.ts'
import type { Config } from '../platform/config.ts'
import type { SecretPlace } from '../platform/credentials/secrets.ts'
import { startTls } from '../platform/credentials/tls.ts'
import { neededToken, startSecrets } from '../platform/credentials/token.ts'
import { drainAndStop, type Stoppable } from '../platform/process/drain-and-stop.ts'
import { type ProcessContext, runProcess } from '../platform/process/process-context.ts'
import { untilAvailable } from '../platform/until-available.ts'
import { createRegistryWriter, type RegistryWriter } from '../registry/writer.ts'
import type { ClientIdentity } from '../wire/client.ts'
import { ingestConnectionsMax } from '../wire/limits.ts'
import { applyManifests, createReload } from './feeds.ts'
import { grpcConnections, grpcListenFailure } from './grpc.ts'
import { openRuntime, type Runtime } from './runtime.ts'
import { type RoleOverrides, requireStores } from './stores.ts'

const ingestGraceMs = 3_000

export interface RunningIngest extends Stoppable {
  readonly grpcPort: number
  readonly opsPort: number
  reload(): Promise<void>
}

/** Accepts bars and administration. Makes the registry equal to FXD_FEEDS; without it the registry does not change. */
export function startIngest(config: Config, overrides: RoleOverrides = {}): Promise<RunningIngest> {
  return runProcess(config, overrides, async (context) => {
    if (!overrides.stores) requireStores('ingest', config)
    // Other processes would not know a token that this ingest makes.
    const token = neededToken('An ingest', config)
    const runtime = await openRuntime(context, overrides, 'ingest', { grpc: ingestConnectionsMax })
    const { health } = runtime
    const writer = writerOf(runtime)
    const { feeds } = config
    const apply = async (): Promise<unknown> =>
      feeds === undefined ? [] : applyManifests(feeds, { writer, bars: runtime.stores.bars })
    // Listens before the store is available: a person may accept a refused one. Until then other calls are UNAVAILABLE.
    const { port } = await startIngestEdge(context, runtime, { writer, token, apply })
    await runtime.loaded()
    await untilAvailable(apply, runtime.waiting)
    health.listening()
    return {
      grpcPort: port,
      opsPort: health.port,
      reload: createReload(feeds ?? '', apply, context.log),
      // Collectors reconnect by themselves, to any available ingest.
      ...drainAndStop(context, health, () => Promise.resolve()),
    }
  })
}

export const writerOf = ({ stores, registry }: Runtime): RegistryWriter =>
  createRegistryWriter(stores.registry, registry, stores.bus)

interface IngestEdge {
  readonly writer: RegistryWriter
  readonly token: SecretPlace
  readonly apply: () => Promise<unknown>
}

/** Listens, over TLS with FXD_TLS_CERT. Returns the port and the identity with which this process calls itself. */
export async function startIngestEdge(
  context: ProcessContext,
  { stores, registry, ports, waiting }: Runtime,
  { writer, token, apply }: IngestEdge,
): Promise<{ readonly port: number; readonly identity: () => ClientIdentity }> {
  const { config, lifecycle, ...shared } = context
  const { grpcAddr, signingKeys: path } = config
  const tls = await startTls(context)
  const tokens = await startSecrets(context, token)
  const signingKeys =
    path === undefined ? tokens : await startSecrets(context, { path, variable: 'FXD_SIGNING_KEYS' })
  const ingest = createIngest({
    ...shared,
    stores,
    registry,
    writer,
    tokens,
    signingKeys,
    tls,
    connectionsMax: ports.grpc,
    connectionCounts: grpcConnections(shared),
    // The new registry is empty. A process that has not read one yet applies its manifests after that.
    async storeBegan() {
      if (!registry.loaded) return
      await untilAvailable(() => registry.refresh(), waiting)
      await untilAvailable(apply, waiting)
    },
  })
  const port = await lifecycle.start({
    name: 'ingest',
    start: () => ingest.listen(grpcAddr.host, grpcAddr.port).catch(grpcListenFailure(grpcAddr)),
    stop: () => ingest.close(ingestGraceMs),
    stopTimeoutMs: 2 * ingestGraceMs,
  })
  const identity = (): ClientIdentity => {
    const pinned = tls?.value.pair?.cert
    return { token: tokens()[0], tls: pinned && { pinned } }
  }
  return { port, identity }
}
