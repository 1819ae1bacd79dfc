import { Server } from '@grpc/grpc-js'
import type { Secrets } from '../../platform/credentials/secrets.ts'
import type { WatchedTls } from '../../platform/credentials/tls.ts'
import type { Log } from '../../platform/log/log.ts'
import { serverOptions, shardConnectionsMax } from '../../wire/limits.ts'
import { type ConnectionCounts, type Listening, listen } from '../../wire/listen.ts'
import { Shard } from '../../wire/load.ts'
import { serverCredentials } from '../../wire/server-credentials.ts'
import type { Stream } from '../stream.ts'
import { shardService } from './service.ts'

export interface ShardServerDeps {
  readonly stream: Pick<Stream, 'load' | 'draining' | 'onFault'>
  /** As `/readyz` says. */
  readonly notReady: () => string | undefined
  /** One of these every call must carry as `authorization: Bearer <token>`. */
  readonly tokens: Secrets
  /** Without: calls are not encrypted. */
  readonly tls?: WatchedTls | undefined
  readonly connectionCounts?: ConnectionCounts
  readonly log: Log
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
