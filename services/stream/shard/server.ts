import { Server } from '@grpc/grpc-js'
import type { WatchedTls } from '../../platform/credentials/tls.ts'
import { serverOptions, shardConnectionsMax } from '../../wire/limits.ts'
import { type ConnectionCounts, type Listening, listen } from '../../wire/listen.ts'
import { Shard } from '../../wire/load.ts'
import { serverCredentials } from '../../wire/server-credentials.ts'
import { type ShardServiceDeps, shardService } from './service.ts'

export interface ShardServerDeps extends ShardServiceDeps {
  /** If absent, calls are not encrypted. */
  readonly tls?: WatchedTls | undefined
  readonly connectionCounts?: ConnectionCounts
}

export interface ShardServer {
  /** Resolves to the port (a free one for port 0); rejects if the address cannot be used. */
  listen(host: string, port: number): Promise<number>
  /** Cuts running calls: every call may be repeated. */
  close(): void
}

/** The gRPC server through which the operator reads a shard's load and drains it. */
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
