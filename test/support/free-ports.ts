import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const host = '127.0.0.1'
/**
 * Below the ports that the kernel gives to whoever connects or listens anywhere: a server that is killed
 * and started again must find its own still free.
 */
const [lowest, beyond] = [10_000, 32_000]
const triesMax = 1_000

/** Different ports of loopback that nobody listens on now. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  for (let tries = 0; ports.size < count; tries++) {
    if (tries > triesMax) throw new Error(`no ${count} free ports from ${lowest} to ${beyond}`)
    const port = randomInt(lowest, beyond)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
