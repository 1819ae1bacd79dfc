import { createServer } from 'node:net'

const host = '127.0.0.1'

/** Ports of loopback that nobody listens on now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject)
          server.listen(0, host, () => {
            const address = server.address()
            if (address === null || typeof address === 'string') reject(new Error('no port'))
            else resolve(address.port)
          })
        }),
    ),
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
