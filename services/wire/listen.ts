import type { Server, ServerCredentials } from '@grpc/grpc-js'

export interface ListenAt {
  readonly host: string
  readonly port: number
  readonly credentials: ServerCredentials
}

/** Gives the port (a free one for port 0); rejects when the address cannot be listened on. */
export const listen = (server: Server, { host, port, credentials }: ListenAt): Promise<number> =>
  new Promise((resolve, reject) => {
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
    server.bindAsync(address, credentials, (cause, bound) => {
      if (cause) reject(cause)
      else resolve(bound)
    })
  })
