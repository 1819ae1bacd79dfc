import type { Config } from '../platform/config.ts'
import type { SecretPlace } from '../platform/credentials/secrets.ts'
import { startTls } from '../platform/credentials/tls.ts'
import { neededToken, startSecrets } from '../platform/credentials/token.ts'
import { drainAndStop, type Stoppable } from '../platform/process/drain-and-stop.ts'
import { type ProcessContext, runProcess } from '../platform/process/process-context.ts'
import { createShardServer } from '../stream/shard/server.ts'
import { createStream, type Stream, streamPath } from '../stream/stream.ts'
import { answerPlainRequest } from '../stream/upgrade/plain-request.ts'
import { shardConnectionsMax } from '../wire/limits.ts'
import { grpcConnections, grpcListenFailure } from './grpc.ts'
import { startHttp, streamMaxima } from './http.ts'
import { openRuntime, type Reading, type Runtime, startReading } from './runtime.ts'
import { type RoleOverrides, requireStores } from './stores.ts'

export interface RunningStream extends Stoppable {
  readonly httpPort: number
  readonly grpcPort: number
  readonly opsPort: number
}

/** Runs one shard: sockets for all symbols, and `fxd.v1.Shard` for the operator. */
export function startStream(config: Config, overrides: RoleOverrides = {}): Promise<RunningStream> {
  return runProcess(config, overrides, async (context) => {
    if (!overrides.stores) requireStores('stream', config)
    const token = shardToken(config)
    const runtime = await openRuntime(context, overrides, 'stream', {
      ...streamMaxima(context),
      grpc: shardConnectionsMax,
    })
    const { health, ports } = runtime
    const edge = await startStreamEdge(context, runtime, await startReading(context, runtime))
    health.setCheck(() => edge.notReady())
    const httpPort = await startHttp(context, {
      handle: answerPlainRequest(streamPath),
      connectionsMax: ports.http,
      stream: edge,
    })
    const grpcPort = await startShardServer(context, runtime, edge, token)
    health.listening()
    await runtime.loaded()
    return {
      httpPort,
      grpcPort,
      opsPort: health.port,
      ...drainAndStop(context, health, (skipped) => drainShard(context, edge, skipped)),
    }
  })
}

/** The shard's own token, so that no pod that clients reach needs the administration token. */
const shardToken = (config: Config): SecretPlace =>
  config.shardTokenFile === undefined
    ? neededToken('A shard', config)
    : { path: config.shardTokenFile, variable: 'FXD_SHARD_TOKEN_FILE' }

export function startStreamEdge(
  context: ProcessContext,
  runtime: Runtime,
  reading: Reading,
): Promise<Stream> {
  const { config, clock, log, metrics, lifecycle } = context
  const { stores, registry, ports } = runtime
  const { trustedProxies } = config
  const shared = { ...stores, history: reading.history, registry, clock, log, metrics }
  return lifecycle.start({
    name: 'stream',
    start: () => createStream({ ...shared, trustedProxies, connectionsMax: ports.sockets }),
    stop: (stream) => stream.close(),
  })
}

async function startShardServer(
  { config, clock, log, metrics, lifecycle, handles }: ProcessContext,
  { health: { notReady }, ports }: Runtime,
  stream: Stream,
  token: SecretPlace,
): Promise<number> {
  const { host, port } = config.grpcAddr
  const tls = await startTls({ config, clock, log, lifecycle })
  const tokens = await startSecrets({ clock, log, lifecycle }, token)
  const server = createShardServer({
    stream,
    notReady,
    tokens,
    tls,
    log,
    connectionsMax: ports.grpc,
    connectionCounts: grpcConnections({ metrics, handles }),
  })
  return lifecycle.start({
    name: 'shard',
    start: () => server.listen(host, port).catch(grpcListenFailure(config.grpcAddr)),
    stop: () => server.close(),
  })
}

async function drainShard(
  { config }: ProcessContext,
  { draining }: Stream,
  skipped: AbortSignal,
): Promise<void> {
  skipped.addEventListener('abort', () => void draining.startForEnd(0))
  await draining.startForEnd(skipped.aborted ? 0 : config.drainSeconds * 1_000)
}
