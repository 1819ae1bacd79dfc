import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Relay {
  /** `host:port` to connect to instead of the target. */
  readonly address: string
  /** Closes all connections and refuses new ones. */
  cut(): Promise<void>
}

/** Forwards connections to `target` (`host:port`) until `cut` is called. */
export const openRelay = async (target: string): Promise<Relay> => {
  const open = new Set<Socket>()
  const keep = (socket: Socket): void => {
    open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => open.delete(socket))
  }
  const [host = '', port = ''] = target.split(':')
  const server = createServer((client) => {
    const upstream = connect(Number(port), host)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      keep(socket)
      socket.pipe(other)
      socket.on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async cut() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}
