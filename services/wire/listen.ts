import { type AddressInfo, createServer } from 'node:net'
import { type Server, type ServerCredentials, status } from '@grpc/grpc-js'

/** The status of a call that met a defect; the log has the cause. */
export const defectStatus = { code: status.INTERNAL, details: 'something went wrong on our side' } as const

/** Hears of connections. */
export interface ConnectionCounts {
  opened(by: 1 | -1): void
  /** One beyond the bound. */
  dropped(): void
  /** One could not be accepted, such as with `EMFILE`. */
  acceptFailed(cause: Error): void
}

export interface ListenAt {
  readonly host: string
  readonly port: number
  readonly credentials: ServerCredentials
  /** Open connections, calls on them or not; more are dropped. */
  readonly connectionsMax: number
  readonly counts?: ConnectionCounts | undefined
}

export interface Listening {
  readonly port: number
  /** Takes no more connections; those that are open stay. Resolves once the last of them has ended. */
  close(): Promise<void>
}

/**
 * Hands connections to a gRPC server, which knows no bound of its own. Gives the port (a free one for port 0);
 * rejects when the address cannot be listened on.
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
