import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { cutAll, upgrade } from '../../cluster/pods.ts'
import { endForeignProcesses } from '../../interop/foreign-process.ts'
import { openTcpProxy, type TcpProxy } from '../../support/clients/tcp-proxy.ts'
import { type Cluster, type Pod, startCluster } from '../../support/cluster/cluster.ts'
import { untilUpgraded } from '../../support/cluster/until-upgraded.ts'
import { fxd } from '../../support/fixtures/cli-fixture.ts'
import { followed, followedFeed, writeExport } from '../../support/samples/followed-feed.ts'
import { simulatedFeed } from '../../support/samples/simulated-feed.ts'
import { checkItems, type Finding } from '../checks/check-items.ts'
import { ask } from '../support/cluster-user.ts'
import { Feeder } from '../support/feeder.ts'
import { feed, Market, manifestOf } from '../support/market.ts'
import { within } from '../support/within.ts'
import { Follower, hasNewest, languages } from './follower.ts'

const names = Array.from({ length: 40 }, (_, i) => `S${i}`)
const simulated = 'BROKERB:LIVE:BTCUSD'
/** A feed with heartbeats whose market is quiet. */
export const quietFeed = followedFeed
const quietSymbol = 'GOLD'
const feeds = [feed, 'BROKERB:LIVE', quietFeed]
const limits = '--plan enterprise --rpm 1000000 --rpd 100000000 --ws-connections 100 --ws-symbols 1000'
/** Age of the first live minute: sockets resume from at most a day ago, and a run must not reach the present. */
const liveBackSeconds = 23 * 3_600
const patienceMs = 150_000
/** Longer than the clients need to notice a half-open connection, and to return. */
const caughtUpMsMax = 180_000

export interface ClientsClusterOptions {
  readonly random: () => number
  /** Pause between two minutes of the feed. */
  readonly minuteMs: number
  /** Bars that were received and that the program has not read yet. */
  readonly buffer: number
}

interface Key {
  readonly id: string
  readonly key: string
}

/** A cluster of real processes, collectors that feed it, and a program of each client that follows all bars. */
export class ClientsCluster {
  readonly cluster: Cluster
  readonly random: () => number
  followers: readonly Follower[] = []
  /** Between each client and the load balancer. */
  proxies: readonly TcpProxy[] = []
  readonly #home: string
  readonly #keyFile: string
  readonly #market: Market
  readonly #feeder: Feeder
  /** Time of the newest minute by symbol that the collector sent. */
  readonly #newest = new Map<string, number>()
  #key: Key = { id: '', key: '' }

  private constructor(cluster: Cluster, home: string, { random, minuteMs }: ClientsClusterOptions) {
    this.cluster = cluster
    this.random = random
    this.#home = home
    this.#keyFile = join(home, 'key')
    this.#market = new Market(random, Date.now(), { symbols: names, liveBackSeconds, isThin: true })
    this.#feeder = new Feeder({
      ingest: { grpc: `127.0.0.1:${cluster.grpcPort}`, token: readFileSync(cluster.token, 'utf8').trim() },
      mode: 'LIVE',
      standsBy: true,
      symbols: names,
      claims: true,
      next: () => this.#nextMinute(),
      onAck: () => pause(minuteMs),
    })
  }

  static async start(options: ClientsClusterOptions): Promise<ClientsCluster> {
    const home = mkdtempSync(join(tmpdir(), 'fxd-clients-'))
    const [manifests, exports] = [join(home, 'feeds.yaml'), join(home, 'exports')]
    mkdirSync(exports)
    // Older than any start, so that the market of this feed is quiet.
    writeExport(exports, quietSymbol, [Math.floor(Date.now() / 60_000) * 60 - 2 * 86_400])
    const quiet = `${followed(exports, [quietSymbol])}  liveness: heartbeat\n`
    writeFileSync(manifests, manifestOf(names) + simulatedFeed + quiet)
    const cluster = await startCluster({ rest: 2, stream: 2, ingest: 2, feeds: manifests })
    const started = new ClientsCluster(cluster, home, options)
    try {
      await started.#begin(options.buffer)
    } catch (cause) {
      await started.end()
      throw cause
    }
    return started
  }

  async #begin(buffer: number): Promise<void> {
    this.use(await this.issue())
    this.#feeder.start()
    // Bars that a first backfill brings behind later ones are in history only.
    await within(patienceMs, 'a day of the simulator', async () => {
      const [times = []] = (await this.#history([simulated])).values()
      return times.length > 1_400 || (times[0] ?? Number.POSITIVE_INFINITY) <= this.#market.liveBegin
    })
    await this.flows(5)
    for (const { port } of this.#of('stream')) await untilUpgraded(port, this.#key.key)
    const balancer = { host: '127.0.0.1', port: this.cluster.httpPort }
    this.proxies = await Promise.all(languages.map(() => openTcpProxy(balancer)))
    this.followers = languages.map(
      (language, i) =>
        new Follower({
          language,
          url: `http://${this.proxies[i]?.host}:${this.proxies[i]?.port}`,
          keyFile: this.#keyFile,
          symbols: [feed, simulated, `${quietFeed}:${quietSymbol}`],
          start: this.#market.liveBegin,
          buffer,
        }),
    )
    await this.caughtUp()
  }

  any = (count: number): number => Math.floor(this.random() * count)

  pods(role: string): string[] {
    return this.#of(role).map(({ name }) => name)
  }

  #of(role: string): readonly Pod[] {
    return this.cluster.pods.filter((pod) => pod.role === role)
  }

  /** Makes a key; resolves once every process knows it. */
  async issue(): Promise<Key> {
    const key = await this.#keys<Key>(`create ${limits} --feeds ${feeds.join(',')}`)
    await this.#known(key.key)
    return key
  }

  /** From now on the clients use this key. */
  use(key: Key): void {
    this.#key = key
    writeFileSync(this.#keyFile, key.key)
  }

  /** Replaces the secret of the key; resolves once the old one is refused. */
  async rotate(): Promise<void> {
    const overlapMs = 10_000
    const end = Date.now() + overlapMs
    const rotated = await this.#keys<Key>(`rotate ${this.#key.id} --overlap ${overlapMs / 1_000}s`)
    await this.#known(rotated.key)
    this.use({ ...this.#key, key: rotated.key })
    await pause(end - Date.now())
  }

  /** Revokes the key; resolves once the clients have ended. */
  async revoke(): Promise<void> {
    await this.#keys(`revoke ${this.#key.id}`)
    await within(patienceMs, 'the clients to end', () => this.followers.every(({ hasEnded }) => hasEnded))
  }

  async #keys<T>(command: string): Promise<T> {
    const { code, out, err } = await fxd(`keys ${command} --json`, this.cluster.commandEnv)
    if (code !== 0) throw new Error(`keys ${command} failed (${code}): ${err}`)
    return JSON.parse(out) as T
  }

  async #known(secret: string): Promise<void> {
    await within(patienceMs, 'the key to be known', async () => {
      const answers = this.#of('rest').map(({ port }) => ask(port, '/v1/status', secret))
      // Shards refuse an upgrade with 503 for a while after a loss of Redis.
      const upgrades = this.#of('stream').map(({ port }) => upgrade(`http://127.0.0.1:${port}`, secret))
      const isRefused = (each: object): boolean => 'status' in each && each.status === 401
      const all = await Promise.all([...answers, ...upgrades]).finally(cutAll)
      return !all.some(isRefused)
    })
  }

  /** Resolves once so many more minutes of the feed were acknowledged. */
  async flows(minutes: number): Promise<void> {
    const enough = this.#feeder.ackedBatches + minutes
    await within(patienceMs, 'bars to be acknowledged', () => {
      if (this.#feeder.fault) throw this.#feeder.fault
      return this.#feeder.ackedBatches >= enough
    })
  }

  /** Resolves once every client gave what was sent until now; rejects if one has ended. */
  async caughtUp(): Promise<void> {
    const newest = [...this.#newest]
    const late = (): string[] =>
      this.followers.flatMap((each) => {
        if (each.hasEnded) throw new Error(`a client ended: ${each.ends.at(-1)}; ${each.logged}`)
        const behind = newest.filter(([symbol, time]) => each.last(symbol) < time)
        return behind.length === 0
          ? []
          : [`${behind.length} symbols are late, such as ${String(behind[0])}; ${each.logged}`]
      })
    await within(caughtUpMsMax, 'the clients to catch up', () => late().length === 0).catch(
      (cause: unknown) => {
        throw new Error(late().join('\n'), { cause })
      },
    )
  }

  /** Makes the last heartbeat of the quiet feed so much older, as if that time had passed. Its collector must not run. */
  async ageHeartbeats(seconds: number): Promise<void> {
    const at = Date.now() - 1_000 * seconds
    const script = `return redis.call('hset', redis.call('keys', '*board:${quietFeed}')[1], 'heartbeatAt', '${at}')`
    await this.cluster.redis.command(`EVAL "${script}" 0`)
  }

  /** Resolves once an emptied Redis has a heartbeat of the quiet feed again, and the shards had time to tell it. */
  async heardAgain(toldMs: number): Promise<void> {
    const board = `redis.call('keys', '*board:${quietFeed}')[1]`
    const script = `local board = ${board} return board and redis.call('hexists', board, 'heartbeatAt') or 0`
    await within(patienceMs, 'the next heartbeat', async () => {
      return (await this.cluster.redis.command(`EVAL "${script}" 0`)).startsWith(':1')
    })
    await pause(toldMs)
  }

  /** Resolves once both clients say this of the quiet feed. */
  judged(verdict: string, msMax: number): Promise<void> {
    return within(msMax, `both clients to say ${verdict}`, async () => {
      const given = await Promise.all(this.followers.map((each) => each.verdict(quietFeed)))
      return given.every((each) => each === verdict)
    })
  }

  /** Stops the feed, and compares what each client gave with history, which must have every acknowledged bar. */
  async judge(): Promise<readonly (readonly Finding[])[]> {
    await this.#feeder.stop()
    const symbols = [...names.map((name) => `${feed}:${name}`), simulated]
    let history = new Map<string, readonly number[]>()
    await within(caughtUpMsMax, 'the newest bars', async () => {
      history = await this.#history(symbols)
      return this.followers.every((each) => hasNewest(each, history))
    }).catch(() => undefined)
    for (const [symbol, readings] of Map.groupBy(this.#feeder.readings, (each) => each.symbol)) {
      const times = new Set(history.get(`${feed}:${symbol}`))
      const lost = readings.find(({ bar }) => !times.has(bar.time))
      if (lost) throw new Error(`${symbol} at ${lost.bar.time} was acknowledged and is not in history`)
    }
    return this.followers.map(({ items }) => checkItems(items, history, this.#market.liveBegin))
  }

  async #history(symbols: readonly string[]): Promise<Map<string, readonly number[]>> {
    const range = `resolution=1&from=${this.#market.liveBegin}&to=${Math.floor(Date.now() / 1_000)}`
    const shown = symbols.map(async (symbol) => {
      const path = `/v1/history?symbol=${symbol}&${range}`
      const { status, body } = await ask(this.cluster.httpPort, path, this.#key.key)
      const { t = [] } = status === 200 ? (body as { t?: readonly number[] }) : {}
      return [symbol, t] as const
    })
    return new Map(await Promise.all(shown))
  }

  async end(): Promise<readonly string[]> {
    endForeignProcesses()
    await Promise.all(this.proxies.map((proxy) => proxy.close()))
    const failed = await this.cluster.stop()
    rmSync(this.#home, { recursive: true, force: true })
    return failed
  }

  #nextMinute() {
    const minute = this.#market.liveBegin + 60 * this.#market.minutes
    const batch = this.#market.live()
    for (const symbol of batch.keys()) this.#newest.set(`${feed}:${symbol}`, minute)
    return batch
  }
}
