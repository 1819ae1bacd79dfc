import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

const host = '127.0.0.1'
/**
 * Below the ports that the kernel gives to whoever connects or listens anywhere: a server that is killed
 * and started again must find its own still free.
 */
const [lowest, beyond] = [10_000, 32_000]
const triesMax = 1_000

/**
 * Different TCP ports of loopback that nobody listens on now. Until this process ends, no other call gives them,
 * in any process: the UDP port of the same number is bound, which no server here uses.
 */
export async function freePorts(count: number, pick = () => randomInt(lowest, beyond)): Promise<number[]> {
  const ports: number[] = []
  for (let tries = 0; ports.length < count; tries++) {
    if (tries > triesMax) throw new Error(`no ${count} free ports from ${lowest} to ${beyond}`)
    const port = pick()
    if ((await isReserved(port)) && (await isFree(port))) ports.push(port)
  }
  return ports
}

/** Whether this call has reserved it. */
const isReserved = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.once('error', () => resolve(false))
    socket.bind({ port, address: host, exclusive: true }, () => {
      socket.unref()
      resolve(true)
    })
  })

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
