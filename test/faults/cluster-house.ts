import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fxd } from '../support/cli-house.ts'
import { type Cluster, type ClusterOptions, startCluster } from '../support/cluster/cluster.ts'
import { checkHistory, type Reading } from './check-history.ts'
import { checkLife, checkPushed, isCaughtUp, type Life, type Minute, namedIn } from './check-sockets.ts'
import { ask, checkAdmitted, GreedyUser, HistoryUser, type Outage } from './cluster-user.ts'
import { Feeder, type FeederOptions } from './feeder.ts'
import { feed, Market, manifestOf } from './market.ts'
import { readHistory } from './read-history.ts'
import { StreamClient } from './stream-client.ts'

/** As many as a manifest lists. */
const symbols = Array.from({ length: 200 }, (_, i) => `S${String(i).padStart(3, '0')}`)
/** A socket may be resumed from a day ago; what lies before now bounds how many minutes a run may send. */
const liveBackSeconds = 23 * 3_600
const rpm = 120
export const cap = 3
const patienceMs = 150_000
const complaintsMax = 20

const simulated = `---
apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: { name: brokerb-live }
spec:
  broker: BROKERB
  account: LIVE
  clock: { mode: UTC }
  quoteBasis: Bid
  resolutions: ["1"]
  depth: { "1": 1d }
  symbols: { list: [{ raw: BTCUSD, type: crypto, digits: 2 }] }
  source: { type: Simulator, seed: 1 }
`

export interface HouseOptions {
  readonly random: () => number
  /** Between two minutes of the feed. */
  readonly minuteMs: number
  readonly cluster?: Pick<ClusterOptions, 'around' | 'podEnv'>
}

/** A cluster of real processes with collectors that feed it and users that remember everything. */
export class ClusterHouse {
  readonly cluster: Cluster
  readonly market: Market
  readonly live: Feeder
  readonly feeders: Feeder[] = []
  readonly clients: StreamClient[] = []
  /** More of one key than its cap lets in. */
  readonly capped: StreamClient[] = []
  readonly outages: Outage[] = []
  readonly random: () => number
  readonly #home: string
  readonly #token: string
  readonly #minutes: Minute[] = []
  #key = ''
  #asker: HistoryUser | undefined
  #greedy: GreedyUser | undefined
  #cappedOpenMax = 0
  #watch: NodeJS.Timeout | undefined

  private constructor(cluster: Cluster, home: string, { random, minuteMs }: HouseOptions) {
    this.cluster = cluster
    this.random = random
    this.#home = home
    this.#token = readFileSync(cluster.token, 'utf8').trim()
    this.market = new Market(random, Date.now(), { symbols, liveBackSeconds })
    this.live = this.feeder({
      mode: 'LIVE',
      // Behind a second one in some tests.
      standsBy: true,
      next: () => this.#nextMinute(),
      onAck: () => pause(minuteMs),
    })
  }

  static async start(options: HouseOptions): Promise<ClusterHouse> {
    const home = mkdtempSync(join(tmpdir(), 'fxd-faults-'))
    const feeds = join(home, 'feeds.yaml')
    writeFileSync(feeds, manifestOf(symbols) + simulated)
    const cluster = await startCluster({ rest: 2, stream: 2, ingest: 2, feeds, ...options.cluster })
    const house = new ClusterHouse(cluster, home, options)
    try {
      await house.#people()
    } catch (cause) {
      await house.end()
      throw cause
    }
    return house
  }

  /** A collector of the pushed feed, by default through the load balancer; it starts when it is told. */
  feeder(options: Omit<FeederOptions, 'ingest'>, port: number = this.cluster.grpcPort): Feeder {
    const ingest = { grpc: `127.0.0.1:${port}`, token: this.#token }
    const feeder = new Feeder({ ingest, ...options })
    this.feeders.push(feeder)
    return feeder
  }

  get = async (path: string): Promise<{ status: number; body: unknown; tookMs: number }> => ({
    ...(await ask(this.cluster.httpPort, path, this.#key)),
    tookMs: 0,
  })

  get ackedBars(): number {
    return this.#readings.filter(({ acked }) => acked).length
  }

  get named(): number {
    return namedIn(this.clients.flatMap(({ lives }) => lives))
  }

  /** Resolves once all have what they may have: every client a socket, a key at its cap as many as that. */
  async recovered(): Promise<void> {
    await within(patienceMs, 'all sockets to be open', () => {
      const open = this.capped.filter(({ isOpen }) => isOpen).length
      return this.clients.every(({ life }) => life !== undefined) && open === cap
    })
  }

  /** What is wrong in the end, a sentence each: the four promises. */
  async judge(): Promise<string[]> {
    await this.recovered()
    await this.settle()
    const late = this.clients.filter(({ life }) => life && !isCaughtUp(life, this.#minutes))
    await this.#asker?.stop()
    await this.#greedy?.stop()
    // The memory of a process might stand in for what the store lost.
    for (const { role, program } of this.cluster.pods)
      if (role === 'rest') {
        await program.kill()
        await program.start()
      }
    const shown = await readHistory({ get: this.get }, this.market, '1')
    const readings = this.#readings
    const sent = new Set(readings.map(({ symbol, bar }) => `${symbol} ${bar.time} ${bar.volume}`))
    const wasSent = (symbol: string, bar: { time: number; volume: number }): boolean =>
      sent.has(`${symbol} ${bar.time} ${bar.volume}`)
    const lives = this.clients.flatMap((client) => client.lives)
    const complaints = [
      ...(lives.some(({ seen }) => seen.length > 0) ? [] : ['no bar came to any socket']),
      ...readings.filter(({ acked }) => !acked).map(({ symbol }) => `${symbol}: never acknowledged`),
      ...checkHistory(readings, shown),
      ...lives.flatMap((life: Life) => [
        ...checkLife(life, this.#minutes),
        ...checkPushed(life, shown, wasSent),
      ]),
      ...late.map(({ lives: [life] }) => `${life?.id}: open and without the newest minute`),
      ...(this.#cappedOpenMax > cap ? [`${this.#cappedOpenMax} sockets of a key of ${cap}`] : []),
      ...this.#strange(),
      ...checkAdmitted(this.#greedy?.admitted ?? new Map(), { rpm, pods: 2 }, this.outages),
    ]
    return complaints.slice(0, complaintsMax)
  }

  /** Feeders stop, and what is on its way arrives; resolves after a while also when it does not. */
  async settle(): Promise<void> {
    await Promise.all(this.feeders.map((each) => each.stop()))
    for (const { fault } of this.feeders) if (fault) throw fault
    await within(30_000, 'the newest minute', () =>
      this.clients.every(({ life }) => life !== undefined && isCaughtUp(life, this.#minutes)),
    ).catch(() => undefined)
  }

  /** The most sockets of the capped key that were open at once, since it was asked last. */
  cappedOpenMost(): number {
    const most = this.#cappedOpenMax
    this.#cappedOpenMax = 0
    return most
  }

  /** For whoever reads the run's output. */
  told(): string {
    const ends = (clients: readonly StreamClient[]): string =>
      JSON.stringify(
        clients
          .flatMap((client) => [...client.ends])
          .reduce<Record<number, number>>(
            (all, [end, count]) => ({ ...all, [end]: (all[end] ?? 0) + count }),
            {},
          ),
      )
    const lives = this.clients.flatMap((client) => client.lives)
    const pushed = lives.reduce((sum, { seen }) => sum + seen.length, 0)
    return (
      `${this.ackedBars} bars acked in ${this.#minutes.length} minutes of the feed, ` +
      `${this.feeders.reduce((sum, { broken }) => sum + broken, 0)} sessions broken; ` +
      `${lives.length} sockets took ${pushed} bars, ${this.named} gaps named, ends ${ends(this.clients)}, ` +
      `of the capped key ${ends(this.capped)}; history answered ${JSON.stringify(Object.fromEntries(this.#asker?.statuses ?? []))}`
    )
  }

  async end(): Promise<readonly string[]> {
    clearInterval(this.#watch)
    await Promise.all([...this.clients, ...this.capped].map((client) => client.stop()))
    await Promise.all([this.#asker?.stop(), this.#greedy?.stop()])
    const failed = await this.cluster.stop()
    rmSync(this.#home, { recursive: true, force: true })
    return failed
  }

  get #readings(): Reading[] {
    return this.feeders.flatMap(({ readings }) => readings)
  }

  #nextMinute() {
    this.#minutes.push({
      time: this.market.liveBegin + 60 * this.market.minutes,
      begunMs: performance.now(),
    })
    return this.market.live()
  }

  async #people(): Promise<void> {
    const roomy = '--rpm 1000000 --rpd 100000000 --ws-connections 100 --ws-symbols 1000'
    this.#key = await this.#issue(roomy)
    const cappedKey = await this.#issue(
      `--rpm 1000000 --rpd 100000000 --ws-connections ${cap} --ws-symbols 10`,
    )
    const greedyKey = await this.#issue(`--rpm ${rpm} --rpd 100000000 --ws-connections 1 --ws-symbols 1`)
    await within(patienceMs, 'the keys to be known', async () => {
      const known = await Promise.all(
        [this.#key, cappedKey, greedyKey, this.#key].map((key) =>
          ask(this.cluster.httpPort, '/v1/status', key),
        ),
      )
      return known.every(({ status }) => status === 200)
    })
    for (let i = 0; i < 6; i++) this.clients.push(this.#client(`client-${i}`, this.#key, i % 2 === 1, 40))
    for (let i = 0; i < 6; i++) this.capped.push(this.#client(`capped-${i}`, cappedKey, false, 1))
    for (const client of [...this.clients, ...this.capped]) client.start()
    this.#watch = setInterval(() => {
      const open = this.capped.filter(({ isOpen }) => isOpen).length
      this.#cappedOpenMax = Math.max(this.#cappedOpenMax, open)
    }, 50)
    await this.recovered()
    this.live.start()
    await within(patienceMs, 'the first minute', () => this.live.ackedBatches > 0)
    this.#asker = new HistoryUser(this.cluster.httpPort, this.#key, () => {
      const symbol = symbols[this.market.any(symbols.length)]
      return `/v1/history?symbol=${feed}:${symbol}&resolution=1&countback=100`
    })
    this.#greedy = new GreedyUser(this.cluster.httpPort, greedyKey)
  }

  #client(name: string, key: string, resumes: boolean, count: number): StreamClient {
    const { random } = this
    const first = this.market.any(symbols.length - count)
    return new StreamClient({
      name: `${name} ${resumes ? 'resuming' : 'plain'}`,
      url: `ws://127.0.0.1:${this.cluster.httpPort}`,
      key,
      feed,
      symbols: symbols.slice(first, first + count),
      resumes,
      random,
      ...(count > 1 && { fill: (symbol: string, after: number) => this.#timesAfter(symbol, after) }),
    })
  }

  async #timesAfter(symbol: string, after: number): Promise<readonly number[]> {
    const to = Math.floor(Date.now() / 1_000)
    const { status, body } = await this.get(
      `/v1/history?symbol=${feed}:${symbol}&resolution=1&from=${after + 1}&to=${to}`,
    )
    if (status !== 200) throw new Error(`history answered ${status}`)
    return (body as { t?: readonly number[] }).t ?? []
  }

  async #issue(limits: string): Promise<string> {
    const line = `keys create --plan enterprise --feeds ${feed},BROKERB:LIVE ${limits} --json`
    const { out, err } = await fxd(line, this.cluster.commandEnv)
    const { key } = JSON.parse(out === '' ? '{}' : out) as { key?: string }
    if (key === undefined) throw new Error(`no key was issued: ${err}`)
    return key
  }

  /** Whatever no fault excuses. */
  #strange(): string[] {
    const refusals = [...this.clients, ...this.capped].flatMap(({ ends }) =>
      [...ends.keys()].filter((end) => (end >= 400 && end < 429) || (end >= 4_500 && end < 5_000)),
    )
    return [
      ...refusals.map((end) => `a good key's socket was ended with ${end}`),
      ...(this.#asker?.strange ?? []),
      ...(this.#greedy?.strange ?? []),
    ]
  }
}

/** Resolves once it holds; rejects after so long. */
export async function within(
  deadlineMs: number,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const begun = performance.now()
  while (!(await holds())) {
    if (performance.now() - begun > deadlineMs) throw new Error(`waited ${deadlineMs} ms for ${what}`)
    await pause(50)
  }
}
