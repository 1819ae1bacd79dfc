import { Server, status } from '@grpc/grpc-js'
import type { Secrets } from '../../platform/credentials/secrets.ts'
import type { WatchedTls } from '../../platform/credentials/tls.ts'
import { authorizeCalls, type CallCheck } from '../../wire/authorize-calls.ts'
import { bearerOf, tokenCheck } from '../../wire/bearer.ts'
import { serverOptions, shardConnectionsMax } from '../../wire/limits.ts'
import { type ConnectionCounts, type Listening, listen } from '../../wire/listen.ts'
import { Shard } from '../../wire/load.ts'
import { serverCredentials } from '../../wire/server-credentials.ts'
import { UnauthenticatedConnections } from '../../wire/unauthenticated-connections.ts'
import { type ShardServiceDeps, shardService } from './service.ts'

export interface ShardServerDeps extends ShardServiceDeps {
  /** Every call must have one of these as `authorization: Bearer <token>`. */
  readonly tokens: Secrets
  /** If absent, calls are not encrypted. */
  readonly tls?: WatchedTls | undefined
  readonly connectionsMax?: number
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
  const unauthenticated = new UnauthenticatedConnections()
  const interceptors = [
    authorizeCalls(refuseUnless(tokenCheck(deps.tokens)), (_path, peer) =>
      unauthenticated.authenticated(peer),
    ),
  ]
  const server = new Server({ ...serverOptions, interceptors })
  server.addService(Shard.service, shardService(deps))
  let listening: Listening | undefined
  return {
    async listen(host, port) {
      listening = await listen(server, {
        host,
        port,
        credentials: serverCredentials(deps.tls),
        connectionsMax: deps.connectionsMax ?? shardConnectionsMax,
        unauthenticated,
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

const refuseUnless =
  (isToken: (given: string) => boolean): CallCheck =>
  async (_path, metadata) => {
    const given = bearerOf(metadata)
    if (given !== undefined && isToken(given)) return undefined
    const details = 'a call must have the metadata "authorization: Bearer <token of the shards>"'
    return { code: status.UNAUTHENTICATED, details }
  }
