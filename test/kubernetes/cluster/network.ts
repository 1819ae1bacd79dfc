import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

const clustersMax = 64

/**
 * The network of one cluster: a separate network namespace, connected to the machine by one pair of interfaces.
 * Nothing of the cluster listens on the machine, and the tests can reach nodes and pods.
 */
export class ClusterNetwork {
  readonly #number: number
  readonly name: string
  readonly #lock: Server

  private constructor(number: number, lock: Server) {
    this.#number = number
    this.name = nameOf(number)
    this.#lock = lock
  }

  /** Opens the network with the first number that no other cluster of this machine uses. Requires root. */
  static async open(): Promise<ClusterNetwork> {
    for (let number = 0; number < clustersMax; number += 1) {
      const lock = await lockOf(nameOf(number))
      if (lock === undefined) continue
      if (isAbandoned(nameOf(number))) ip('netns', 'delete', nameOf(number))
      if (!tryIp('netns', 'add', nameOf(number))) {
        lock.close()
        continue
      }
      const network = new ClusterNetwork(number, lock)
      network.#connect()
      return network
    }
    throw new Error(`${clustersMax} clusters for tests are running on this machine`)
  }

  /** Address of the control plane, the ingress and the simulated load balancer. */
  get address(): string {
    return `10.200.${this.#number}.1`
  }

  /** Address of the machine in this network. */
  get machineAddress(): string {
    return `10.200.${this.#number}.254`
  }

  get podRange(): string {
    return `10.244.${this.#number * 4}.0/22`
  }

  /** Pod range of a node, from 1 to 3. */
  podRangeOf(node: number): string {
    return `10.244.${this.#number * 4 + node}.0/24`
  }

  /** Address of a node's bridge, from which processes of this network call its pods. `node` is from 1 to 3. */
  bridgeAddress(node: number): string {
    return `10.244.${this.#number * 4 + node}.1`
  }

  /** Address of a node, from 1 to 3. */
  nodeAddress(node: number): string {
    return `10.200.${this.#number}.${10 + node}`
  }

  /** A command line that runs the given one in the namespace. `ip netns exec` would hide the cgroups. */
  enter(...command: readonly string[]): readonly [string, ...string[]] {
    return ['nsenter', `--net=/run/netns/${this.name}`, ...command]
  }

  addAddress(address: string): void {
    const [program, ...args] = this.enter('ip', 'address', 'replace', `${address}/24`, 'dev', 'eth0')
    execFileSync(program, args, { stdio: 'pipe' })
  }

  /** Removes the network. All its processes must have ended. */
  remove(): void {
    ip('netns', 'delete', this.name)
    this.#lock.close()
  }

  #connect(): void {
    const { name, address, machineAddress, podRange } = this
    // An interface of an abandoned cluster may outlive its namespace for a moment.
    tryIp('link', 'delete', name)
    ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
    ip('address', 'add', `${machineAddress}/24`, 'dev', name)
    ip('link', 'set', name, 'up')
    ip('-n', name, 'link', 'set', 'lo', 'up')
    ip('-n', name, 'link', 'set', 'eth0', 'up')
    ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'eth0')
    ip('-n', name, 'route', 'add', 'default', 'via', machineAddress)
    ip('route', 'replace', podRange, 'via', address)
  }
}

const nameOf = (number: number): string => `fxd-k8s-${number}`

/** Takes a lock until it is closed or this process ends. `undefined`: another cluster has the lock. */
async function lockOf(name: string): Promise<Server | undefined> {
  const lock = createServer().unref()
  try {
    // An abstract socket of Linux, which the kernel removes with the process.
    await once(lock.listen(`\0${name}`), 'listening')
    return lock
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined
    throw cause
  }
}

/** Whether its test run, and so its processes, ended without removing it. */
function isAbandoned(name: string): boolean {
  try {
    return ip('netns', 'pids', name).trim() === ''
  } catch {
    return false
  }
}

function tryIp(...args: readonly string[]): boolean {
  try {
    ip(...args)
    return true
  } catch {
    return false
  }
}

const ip = (...args: readonly string[]): string =>
  execFileSync('ip', args, { stdio: 'pipe', encoding: 'utf8' })
