import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Server, type ServerCredentials, status } from '@grpc/grpc-js'
import { boundCalls } from './bound-calls.ts'
import type { UnauthenticatedConnections } from './unauthenticated-connections.ts'

/** The status of a call that failed through a defect; only the log has the cause. */
export const defectStatus = { code: status.INTERNAL, details: 'the service failed' } as const

export interface ConnectionCounts {
  opened(): void
  closed(): void
  /** A connection was dropped because there were more than the maximum: the new one or an unauthenticated one. */
  dropped(): void
  /** A connection could not be accepted, for example with `EMFILE`. */
  acceptFailed(cause: Error): void
}

export interface ListenAt {
  readonly host: string
  readonly port: number
  readonly credentials: ServerCredentials
  /** Maximum open connections, with or without calls. */
  readonly connectionsMax: number
  /** Above the maximum the oldest of these is closed for a new connection. */
  readonly unauthenticated: UnauthenticatedConnections
  readonly counts?: ConnectionCounts | undefined
}

export interface Listening {
  readonly port: number
  /** Accepts no further connections; open ones stay. Resolves once the last one has ended. */
  close(): Promise<void>
}

/**
 * Accepts connections for a gRPC server, up to a maximum that the server lacks. At the maximum a new connection
 * replaces the oldest unauthenticated one; without one it is dropped. Otherwise strangers could use all connections.
 * Resolves with the port (a free one for port 0); rejects if it cannot listen on the address.
 */
export function listen(server: Server, at: ListenAt): Promise<Listening> {
  const injector = server.createConnectionInjector(at.credentials)
  const { counts, unauthenticated } = at
  let open = 0
  const accept = (socket: Socket): void => {
    open += 1
    counts?.opened()
    socket.once('close', () => {
      open -= 1
      counts?.closed()
    })
    unauthenticated.add(socket)
    injector.injectConnection(socket)
  }
  const listener = createServer((socket) => {
    const isAboveMax = open >= at.connectionsMax
    if (isAboveMax) counts?.dropped()
    if (isAboveMax && !unauthenticated.closeOldest()) socket.destroy()
    else accept(socket)
  })
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(at.port, at.host, () => {
      listener.off('error', reject).on('error', (cause) => counts?.acceptFailed(cause))
      const { port } = listener.address() as AddressInfo
      listener.once('close', boundCalls(port))
      resolve({ port, close: () => new Promise((closed) => void listener.close(() => closed())) })
    })
  })
}
