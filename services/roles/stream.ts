import type { Config } from '../platform/config.ts'
import { answerPlainRequest } from '../stream/plain-request.ts'
import { createShardServer } from '../stream/shard/server.ts'
import { createStream, type Stream, streamPath } from '../stream/stream.ts'
import { shardConnectionsMax } from '../wire/limits.ts'
import { warnOfFewHandles } from './enough-handles.ts'
import { type Ground, layGround } from './ground.ts'
import { grpcConnections } from './grpc-connections.ts'
import { grpcListenFailure } from './grpc-listen-failure.ts'
import { type House, inHouse, type Overrides } from './house.ts'
import { httpConnectionsMax, startHttp } from './http.ts'
import { type Leaving, leaveThrough } from './leaving.ts'
import { neededToken } from './needed-token.ts'
import { type Reading, startReading } from './reading.ts'
import { requireStores } from './require-stores.ts'
import { startTls } from './tls.ts'

export interface RunningStream extends Leaving {
  readonly httpPort: number
  readonly grpcPort: number
  readonly opsPort: number
}

/** One shard: holds sockets, any symbol, and answers the operator's `fxd.v1.Shard`. */
export function startStream(config: Config, overrides: Overrides = {}): Promise<RunningStream> {
  return inHouse(config, overrides, async (house) => {
    if (!overrides.stores) requireStores('stream', config)
    const token = neededToken('A shard', config)
    const ground = await layGround(house, overrides, { migrates: false, admits: false })
    const { health } = ground
    warnOfFewHandles(house, httpConnectionsMax(house, true) + shardConnectionsMax)
    const edge = await startStreamEdge(house, ground, await startReading(house, ground))
    health.heed(() => edge.notReady())
    const httpPort = await startHttp(house, { handle: answerPlainRequest(streamPath), stream: edge })
    const grpcPort = await startShardServer(house, edge, health.notReady, token)
    health.listening()
    await ground.loaded()
    return {
      httpPort,
      grpcPort,
      opsPort: health.port,
      ...leaveThrough(house, health, (hurried) => emptyShard(house, edge, hurried)),
    }
  })
}

export function startStreamEdge(house: House, ground: Ground, reading: Reading): Promise<Stream> {
  const { config, clock, log, metrics, lifecycle } = house
  const { stores, registry } = ground
  const { trustedProxies, streamConnectionsMax: connectionsMax } = config
  const shared = { ...stores, history: reading.history, registry, clock, log, metrics }
  return lifecycle.start({
    name: 'stream',
    start: () => createStream({ ...shared, trustedProxies, connectionsMax }),
    stop: (stream) => stream.close(),
  })
}

async function startShardServer(
  { config, clock, log, metrics, lifecycle, handles }: House,
  stream: Stream,
  notReady: () => string | undefined,
  token: string,
): Promise<number> {
  const { host, port } = config.grpcAddr
  const tls = await startTls({ config, clock, log, lifecycle })
  const server = createShardServer({
    stream,
    notReady,
    token,
    tls,
    log,
    connectionCounts: grpcConnections({ metrics, handles }),
  })
  return lifecycle.start({
    name: 'shard',
    start: () => server.listen(host, port).catch(grpcListenFailure(config.grpcAddr)),
    stop: () => server.close(),
  })
}

async function emptyShard({ config }: House, { draining }: Stream, hurried: AbortSignal): Promise<void> {
  const hurry = (): void => void draining.start(0)
  hurried.addEventListener('abort', hurry)
  await draining.start(hurried.aborted ? 0 : config.drainSeconds * 1_000)
}
