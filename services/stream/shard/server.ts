import { Server } from '@grpc/grpc-js'
import type { WatchedTls } from '../../platform/credentials/tls.ts'
import { serverOptions, shardConnectionsMax } from '../../wire/limits.ts'
import { type ConnectionCounts, type Listening, listen } from '../../wire/listen.ts'
import { Shard } from '../../wire/load.ts'
import { serverCredentials } from '../../wire/server-credentials.ts'
import { type ShardServiceDeps, shardService } from './service.ts'

export interface ShardServerDeps extends ShardServiceDeps {
  /** Without: calls are not encrypted. */
  readonly tls?: WatchedTls | undefined
  readonly connectionCounts?: ConnectionCounts
}

export interface ShardServer {
  /** Gives the port (a free one for port 0); rejects when the address cannot be listened on. */
  listen(host: string, port: number): Promise<number>
  /** Cuts off what is under way: every call may be repeated. */
  close(): void
}

/** Where the operator asks a shard for its load and drains it. */
export function createShardServer(deps: ShardServerDeps): ShardServer {
  const server = new Server(serverOptions)
  server.addService(Shard.service, shardService(deps))
  let listening: Listening | undefined
  return {
    async listen(host, port) {
      listening = await listen(server, {
        host,
        port,
        credentials: serverCredentials(deps.tls),
        connectionsMax: shardConnectionsMax,
        counts: deps.connectionCounts,
      })
      return listening.port
    },
    close() {
      void listening?.close()
      server.forceShutdown()
    },
  }
}
