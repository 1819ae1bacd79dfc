import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

const host = '127.0.0.1'
/**
 * Range above 10,080, the greatest port that `fetch` rejects, and below the ephemeral ports of the kernel: a server that
 * is killed and started again must find its port still free. The end is exclusive.
 */
const [lowest, end] = [10_081, 32_000]
const triesMax = 1_000

/**
 * Returns different free TCP ports of loopback. Until this process ends, no other call returns them, in any
 * process: each is reserved by binding the UDP port of the same number, which no server here uses.
 */
export async function freePorts(count: number, pick = () => randomInt(lowest, end)): Promise<number[]> {
  const ports: number[] = []
  for (let tries = 0; ports.length < count; tries++) {
    if (tries > triesMax) throw new Error(`no ${count} free ports from ${lowest} to ${end}`)
    const port = pick()
    if ((await isReserved(port)) && (await isFree(port))) ports.push(port)
  }
  return ports
}

/** Reserves the port; false when another process has reserved it. */
const isReserved = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.once('error', () => resolve(false))
    socket.bind({ port, address: host, exclusive: true }, () => {
      socket.unref()
      resolve(true)
    })
  })

/** Whether this process may listen on the port. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
