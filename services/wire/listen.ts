import { type AddressInfo, createServer } from 'node:net'
import { type Server, type ServerCredentials, status } from '@grpc/grpc-js'

/** The status of a call that failed through a defect; only the log has the cause. */
export const defectStatus = { code: status.INTERNAL, details: 'something went wrong on our side' } as const

/** Counts connections. */
export interface ConnectionCounts {
  opened(by: 1 | -1): void
  /** A connection above the maximum was dropped. */
  dropped(): void
  /** A connection could not be accepted, for example with `EMFILE`. */
  acceptFailed(cause: Error): void
}

export interface ListenAt {
  readonly host: string
  readonly port: number
  readonly credentials: ServerCredentials
  /** Maximum open connections, with or without calls; further ones are dropped. */
  readonly connectionsMax: number
  readonly counts?: ConnectionCounts | undefined
}

export interface Listening {
  readonly port: number
  /** Accepts no further connections; open ones stay. Resolves once the last one has ended. */
  close(): Promise<void>
}

/**
 * Accepts connections for a gRPC server, up to a maximum that the server lacks. Resolves with the port (a free one
 * for port 0); rejects if it cannot listen on the address.
 */
export function listen(server: Server, at: ListenAt): Promise<Listening> {
  const injector = server.createConnectionInjector(at.credentials)
  const { counts } = at
  const listener = createServer((socket) => {
    counts?.opened(1)
    socket.once('close', () => counts?.opened(-1))
    injector.injectConnection(socket)
  })
  listener.maxConnections = at.connectionsMax
  listener.on('drop', () => counts?.dropped())
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(at.port, at.host, () => {
      listener.off('error', reject).on('error', (cause) => counts?.acceptFailed(cause))
      const { port } = listener.address() as AddressInfo
      resolve({ port, close: () => new Promise((closed) => void listener.close(() => closed())) })
    })
  })
}
