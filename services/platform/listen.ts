import type { AddressInfo, Server } from 'node:net'
import type { Address } from './config.ts'
import { Fatal } from './process/exit.ts'

export const formatAddress = ({ host, port }: Address): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** An address to which a client on this machine can connect: for a wildcard, loopback. */
export function reachable({ host, port }: Address): Address {
  if (host === '0.0.0.0') return { host: '127.0.0.1', port }
  return host === '::' ? { host: '::1', port } : { host, port }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program, or by an fxd that still runs',
  EACCES: 'requires more rights than this user has',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not a known host name',
}

/** One sentence: why the address cannot be listened on, and which variable to set. */
export function listenFailure(address: Address, variable: string, cause: unknown): Fatal {
  const text = cause instanceof Error ? cause.message : String(cause)
  // gRPC reports the error code only inside its message.
  const code = Object.keys(reasons).find((each) => text.includes(each)) ?? ''
  const reason = reasons[code] ?? `cannot be listened on (${text})`
  const other = formatAddress({ ...address, port: address.port === 65_535 ? 0 : address.port + 1 })
  return new Fatal(
    'system',
    `${formatAddress(address)} ${reason}; set ${variable} to another one, such as ${variable}=${other}.`,
    cause,
  )
}

/** Maximum connections that wait to be accepted. With Node's 511, further clients would retry after 1 s. */
const backlog = 4_096

/** Resolves with the port once the server listens; the error names the variable to set. */
export function listen(server: Server, address: Address, variable: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error): void => reject(listenFailure(address, variable, cause))
    server.once('error', fail)
    server.listen(address.port, address.host, backlog, () => {
      server.off('error', fail)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
