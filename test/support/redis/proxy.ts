import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { RedisServer } from './server.ts'

export interface Proxy {
  readonly url: string
  /** From now on drops replies; commands still reach the server. */
  swallowReplies(): void
  /** From now on passes at most this many bytes of replies per second on each connection. */
  slow(bytesPerSecond: number): void
  /** Ends all open connections; new connections pass commands and replies. */
  cut(): void
  close(): Promise<void>
}

/** Opens a proxy to a Redis that can lose or delay replies. */
export async function openProxy(server: Pick<RedisServer, 'host' | 'port'>): Promise<Proxy> {
  const open = new Set<Socket>()
  let swallows = false
  let bytesPerMs = Number.POSITIVE_INFINITY
  const listener = createServer((client) => {
    const upstream = connect(server.port, server.host)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.on('data', (piece) => {
      if (swallows) return
      client.write(piece)
      upstream.pause()
      setTimeout(() => upstream.resume(), piece.length / bytesPerMs)
    })
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const cut = (): void => {
    swallows = false
    for (const socket of open) socket.destroy()
  }
  return {
    url: `redis://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    swallowReplies: () => void (swallows = true),
    slow: (bytesPerSecond) => void (bytesPerMs = bytesPerSecond / 1_000),
    cut,
    async close() {
      const closed = new Promise((resolve) => listener.close(resolve))
      cut()
      await closed
    },
  }
}
