import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ApiServer } from './api-server.ts'

/** A forwarded call. */
export interface ForwardedCall {
  readonly method: string
  /** Path without the query. */
  readonly path: string
}

/** A proxy between an operator and the API server. It records calls and can cut the connection after a write. */
export interface Gateway {
  readonly url: string
  /** Calls that changed something, except those of the Lease. */
  readonly writes: readonly ForwardedCall[]
  /** Calls that changed the Lease. */
  readonly leaseWrites: readonly ForwardedCall[]
  /** Makes the API server unavailable: calls fail and open watches end. */
  cut(): void
  /** Makes the API server available again. */
  restore(): void
  /** Calls `reached` once the API server has applied a write. Its answer is dropped. */
  cutAfterWrite(reached: () => void): void
  close(): Promise<void>
}

const isWrite = (method: string): boolean => method !== 'GET'
const isOfLease = (path: string): boolean => path.includes('/leases')

export async function openGateway({ url, ca, cert, key }: ApiServer): Promise<Gateway> {
  const agent = new Agent({ ca: readFileSync(ca), keepAlive: true, maxSockets: 64 })
  const writes: ForwardedCall[] = []
  const leaseWrites: ForwardedCall[] = []
  let isCut = false
  let reached: (() => void) | undefined

  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (isCut) return void incoming.socket.destroy()
    const { method = '', url: path = '', headers } = incoming
    const ours = isWrite(method) && !isOfLease(path)
    const upstream = request(url + path, { method, headers, agent }, (answer) => {
      const written = isOfLease(path) ? leaseWrites : writes
      if (isWrite(method)) written.push({ method, path: path.split('?')[0] ?? '' })
      if (ours && reached !== undefined) {
        isCut = true
        answer.destroy()
        server.closeAllConnections()
        reached()
        reached = undefined
        return
      }
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
      // Sends the head of an answer at once, for watches without events.
      outgoing.flushHeaders()
      answer.pipe(outgoing)
    })
    upstream.on('error', () => outgoing.destroy())
    outgoing.on('close', () => upstream.destroy())
    incoming.pipe(upstream)
  }
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, pass)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes,
    leaseWrites,
    cut() {
      isCut = true
      server.closeAllConnections()
    },
    restore() {
      isCut = false
      reached = undefined
    },
    cutAfterWrite: (listen) => void (reached = listen),
    async close() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
