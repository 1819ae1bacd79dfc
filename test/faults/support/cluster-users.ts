import { newKey } from '../../support/clients/new-key.ts'
import type { Cluster } from '../../support/cluster/cluster.ts'
import { untilUpgraded } from '../../support/cluster/until-upgraded.ts'
import { checkLimits, type Outage } from '../checks/check-limits.ts'
import { countGaps, type SocketRecord } from '../checks/check-sockets.ts'
import { ask, GreedyUser, HistoryUser } from './cluster-user.ts'
import { feed, type Market } from './market.ts'
import { ShareWatch } from './share-watch.ts'
import { StreamClient } from './stream-client.ts'
import { within } from './within.ts'

const rpm = 120
/** Connection limit of the key with too many clients. */
export const cap = 3
const cappedUsers = 2 * cap
const watchMs = 50
const patienceMs = 150_000
const highLimits = '--rpm 1000000 --rpd 100000000 --ws-connections 100 --ws-symbols 1000'
const capped = `--rpm 1000000 --rpd 100000000 --ws-connections ${cap} --ws-symbols 10`
const lowRate = `--rpm ${rpm} --rpd 100000000 --ws-connections 1 --ws-symbols 1`

/** Users of a cluster, each group with a separate key, that record everything they receive. */
export class ClusterUsers {
  readonly clients: readonly StreamClient[]
  /** More clients than the cap of their key; they connect to the shards directly, round robin. */
  readonly capped: readonly StreamClient[]
  readonly #cluster: Cluster
  readonly #key: string
  readonly #greedyKey: string
  #historyUser: HistoryUser | undefined
  #greedy: GreedyUser | undefined
  #shares: ShareWatch | undefined
  readonly #watch: NodeJS.Timeout
  #cappedOpenMost = 0

  private constructor(
    cluster: Cluster,
    market: Market,
    keys: { readonly all: string; readonly capped: string; readonly greedy: string },
  ) {
    this.#cluster = cluster
    this.#key = keys.all
    const shards = cluster.pods.filter(({ role }) => role === 'stream')
    this.clients = Array.from({ length: 6 }, (_, i) =>
      this.#client(market, `client-${i}`, {
        key: keys.all,
        port: cluster.httpPort,
        resumes: i % 2 === 1,
        count: 40,
      }),
    )
    this.capped = Array.from({ length: cappedUsers }, (_, i) => {
      const port = shards[i % shards.length]?.port ?? cluster.httpPort
      return this.#client(market, `capped-${i}`, { key: keys.capped, port, resumes: false, count: 1 })
    })
    this.#greedyKey = keys.greedy
    this.#watch = setInterval(() => {
      this.#cappedOpenMost = Math.max(this.#cappedOpenMost, this.cappedOpen)
    }, watchMs)
  }

  /** Issues the keys and connects; resolves once all sockets are open. */
  static async start(cluster: Cluster, market: Market): Promise<ClusterUsers> {
    const keys = {
      all: await issue(cluster, highLimits),
      capped: await issue(cluster, capped),
      greedy: await issue(cluster, lowRate),
    }
    await within(patienceMs, 'the keys to be known', async () => {
      // Twice, so that both REST pods know each key.
      const requested = [...Object.values(keys), ...Object.values(keys)]
      const known = await Promise.all(requested.map((key) => ask(cluster.httpPort, '/v1/status', key)))
      return known.every(({ status }) => status === 200)
    })
    // The last key: each shard learns of keys in their order.
    for (const { port } of cluster.pods.filter(({ role }) => role === 'stream'))
      await untilUpgraded(port, keys.greedy)
    const users = new ClusterUsers(cluster, market, keys)
    for (const client of [...users.clients, ...users.capped]) client.start()
    await users.recovered()
    return users
  }

  /** Starts requests to history and to the limited key. History must have bars of every symbol by now. */
  async startRequests(market: Market): Promise<void> {
    const { httpPort, pods } = this.#cluster
    this.#shares = await ShareWatch.begin(pods.filter(({ role }) => role === 'rest'))
    this.#historyUser = new HistoryUser(
      httpPort,
      this.#key,
      () =>
        `/v1/history?symbol=${feed}:${market.symbols[market.any(market.symbols.length)]}&resolution=1&countback=100`,
    )
    this.#greedy = new GreedyUser(httpPort, this.#greedyKey)
  }

  get = async (path: string): Promise<{ status: number; body: unknown; tookMs: number }> => ({
    ...(await ask(this.#cluster.httpPort, path, this.#key)),
    tookMs: 0,
  })

  get records(): readonly SocketRecord[] {
    return this.clients.flatMap(({ records }) => records)
  }

  /** Successful answers from history so far. */
  get served(): number {
    return this.#historyUser?.served ?? 0
  }

  /** Gaps that GAP frames named to any client. */
  get gapsNamed(): number {
    return countGaps(this.records)
  }

  /** Sockets opened so far; it grows when one ended and its client reconnected. */
  get sockets(): number {
    return [...this.clients, ...this.capped].reduce((sum, { records }) => sum + records.length, 0)
  }

  /** Sockets of the capped key that were closed with this code. */
  closedWith(code: number): number {
    return this.capped.reduce((sum, { ends }) => sum + (ends.get(code) ?? 0), 0)
  }

  get cappedOpen(): number {
    return this.capped.filter(({ isOpen }) => isOpen).length
  }

  /** The most sockets of the capped key that were open at once since the last call; resets the count. */
  cappedOpenMost(): number {
    const most = this.#cappedOpenMost
    this.#cappedOpenMost = 0
    return most
  }

  /** Name of the shard with the most sockets of the capped key. */
  busiestShard(): string {
    const shards = this.#cluster.pods.filter(({ role }) => role === 'stream')
    const open = shards.map(
      (_, shard) => this.capped.filter(({ isOpen }, i) => isOpen && i % shards.length === shard).length,
    )
    return shards[open.indexOf(Math.max(...open))]?.name ?? ''
  }

  /** Resolves once every client has a socket, and the capped key has as many as its cap. */
  recovered = (): Promise<void> =>
    within(
      patienceMs,
      'all sockets to be open',
      () => this.clients.every(({ record }) => record !== undefined) && this.cappedOpen === cap,
    )

  /** Resolves once one request got bars and one was refused by a limit, or after the patience. */
  untilAnswered = (): Promise<void> =>
    within(
      patienceMs,
      'bars and a refusal',
      () => this.#historyUser?.wasServed === true && (this.#greedy?.refused ?? 0) > 0,
    ).catch(() => undefined)

  /** Stops the requests; sockets stay open. */
  async stopRequests(): Promise<void> {
    await Promise.all([this.#historyUser?.stop(), this.#greedy?.stop()])
    await this.#shares?.stop()
  }

  async stop(): Promise<void> {
    clearInterval(this.#watch)
    await Promise.all([...this.clients, ...this.capped].map((client) => client.stop()))
    await this.stopRequests()
  }

  /** Returns violations of promise 4 and answers that no fault explains, a sentence each. */
  complaints(outages: readonly Outage[]): string[] {
    const refusals = [...this.clients, ...this.capped].flatMap(({ ends }) =>
      [...ends.keys()].filter((end) => (end >= 400 && end < 429) || (end >= 4_500 && end < 5_000)),
    )
    return [
      ...(this.#cappedOpenMost > cap ? [`${this.#cappedOpenMost} sockets of a key of ${cap}`] : []),
      ...refusals.map((end) => `a good key's socket was ended with ${end}`),
      ...(this.#historyUser?.unexpected ?? []),
      ...(this.#historyUser?.wasServed === false ? [`history never returned bars: ${this.#statuses()}`] : []),
      ...(this.#greedy?.unexpected ?? []),
      ...checkLimits({
        rpm,
        answers: this.#greedy?.answers ?? [],
        outages,
        shares: this.#shares?.readings ?? [],
      }),
    ]
  }

  summary(): string {
    const pushed = this.records.reduce((sum, { seen }) => sum + seen.length, 0)
    const greedy = `${this.#greedy?.answers.length} answers to the greedy key, ${this.#greedy?.refused} refused`
    return (
      `${this.records.length} sockets received ${pushed} bars, ${this.gapsNamed} gaps named, ends ${endsOf(this.clients)}, ` +
      `of the capped key ${endsOf(this.capped)}; history answered ${this.#statuses()}, ${greedy}`
    )
  }

  #statuses = (): string => JSON.stringify(Object.fromEntries(this.#historyUser?.statuses ?? []))

  #client(
    market: Market,
    name: string,
    of: { readonly key: string; readonly port: number; readonly resumes: boolean; readonly count: number },
  ): StreamClient {
    const first = market.any(market.symbols.length - of.count)
    return new StreamClient({
      name: `${name} ${of.resumes ? 'resuming' : 'plain'}`,
      url: `ws://127.0.0.1:${of.port}`,
      key: of.key,
      feed,
      symbols: market.symbols.slice(first, first + of.count),
      resumes: of.resumes,
      random: market.random,
      ...(of.count > 1 && { fill: (symbol: string, after: number) => this.#timesAfter(symbol, after) }),
    })
  }

  async #timesAfter(symbol: string, after: number): Promise<readonly number[]> {
    const to = Math.floor(Date.now() / 1_000)
    const path = `/v1/history?symbol=${feed}:${symbol}&resolution=1&from=${after + 1}&to=${to}`
    const { status, body } = await this.get(path)
    if (status !== 200) throw new Error(`history answered ${status}`)
    return (body as { t?: readonly number[] }).t ?? []
  }
}

const issue = ({ commandEnv }: Cluster, limits: string): Promise<string> =>
  newKey(commandEnv, `--plan enterprise --feeds ${feed},BROKERB:LIVE ${limits}`)

const endsOf = (clients: readonly StreamClient[]): string => {
  const counts: Record<number, number> = {}
  for (const { ends } of clients) for (const [end, count] of ends) counts[end] = (counts[end] ?? 0) + count
  return JSON.stringify(counts)
}
