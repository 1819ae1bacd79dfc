import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { connect, type LookupFunction } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type ClientOptions, WebSocket } from 'ws'
import { until } from '../../acceptance/client/until.ts'
import { answerOf, type UserAnswer } from '../../faults/support/cluster-user.ts'
import { domain, ports } from '../cluster/ingress.ts'
import { type Installed, namespace } from './installed.ts'

const upgradeMsMax = 90_000
const ingestPort = 8090

/** Access from outside of the cluster: clients through the ingress with TLS, collectors at one address. */
export class Outside {
  readonly #installed: Pick<Installed, 'cluster' | 'ca'>
  readonly #authority: Buffer
  readonly #lookup: LookupFunction

  constructor(installed: Pick<Installed, 'cluster' | 'ca'>) {
    this.#installed = installed
    this.#authority = readFileSync(installed.ca)
    const { address } = installed.cluster.network
    this.#lookup = (_host, options, give) => {
      if (options.all) give(null, [{ address, family: 4 }])
      else give(null, address, 4)
    }
  }

  /** wss://host:port */
  readonly ws = `wss://${domain}:${ports.https}`

  /** Options of a WebSocket client. */
  get connection(): ClientOptions & { readonly lookup: LookupFunction } {
    return { ca: this.#authority, lookup: this.#lookup }
  }

  /** Sends a GET request over a separate connection. */
  get(
    path: string,
    key: string,
    host = domain,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<UserAnswer> {
    return answerOf((take) => request(this.#question(path, key, host, headers), take).end())
  }

  /**
   * Sends a GET request, and reads the body only after a pause. Resolves with the body, as far as it came. The
   * connection is kept: with `Connection: close` Envoy drops what a client has not read 1 s after the answer ended.
   */
  async getSlowly(path: string, key: string, host: string, pauseMs: number): Promise<string> {
    const agent = new Agent({ keepAlive: true })
    const asking = request({ ...this.#question(path, key, host), agent }).end()
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    await pause(pauseMs)
    const parts: Buffer[] = []
    answer.on('data', (part: Buffer) => void parts.push(part))
    answer.on('error', () => undefined)
    if (!answer.closed) await new Promise((resolve) => void answer.once('close', resolve))
    agent.destroy()
    return String(Buffer.concat(parts))
  }

  #question(
    path: string,
    key: string,
    host: string,
    headers: Readonly<Record<string, string>> = {},
  ): RequestOptions {
    return {
      host,
      port: ports.https,
      path,
      ca: this.#authority,
      lookup: this.#lookup,
      agent: false,
      headers: { 'x-api-key': key, ...headers },
    }
  }

  /** Resolves once sockets are accepted. For 25 s shards treat a new Redis as one that lost its slots. */
  async untilUpgraded(key: string): Promise<void> {
    const socket = await until(
      'a socket to be accepted',
      async () => {
        const opening = new WebSocket(`${this.ws}/v1/stream?api_key=${key}`, this.connection)
        await once(opening, 'open')
        return opening
      },
      upgradeMsMax,
    )
    socket.terminate()
  }

  /** Makes ingest reachable for collectors outside, as a load balancer would. Returns host:port once it accepts connections. */
  async exposeIngest(): Promise<string> {
    const { cluster } = this.#installed
    await cluster.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'ingest-outside', namespace },
      spec: {
        selector: { 'app.kubernetes.io/component': 'ingest' },
        externalIPs: [cluster.network.address],
        ports: [{ name: 'grpc', port: ingestPort }],
      },
    })
    const { address } = cluster.network
    const connected = await until('ingest to accept a connection from outside', async () => {
      const opening = connect(ingestPort, address)
      await once(opening, 'connect')
      return opening
    })
    connected.destroy()
    return `${address}:${ingestPort}`
  }
}
