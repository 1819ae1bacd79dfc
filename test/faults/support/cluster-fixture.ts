import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Cluster, type ClusterOptions, startCluster } from '../../support/cluster/cluster.ts'
import { simulatedFeed } from '../../support/samples/simulated-feed.ts'
import { checkHistory, type Reading } from '../checks/check-history.ts'
import type { Outage } from '../checks/check-limits.ts'
import { checkPushed, checkSocket, isCaughtUp, type Minute } from '../checks/check-sockets.ts'
import { ClusterUsers } from './cluster-users.ts'
import { Feeder, type FeederOptions } from './feeder.ts'
import { Market, manifestOf } from './market.ts'
import { readHistory } from './read-history.ts'
import { within } from './within.ts'

/** Symbols of the pushed feed; the most that a manifest lists. */
const symbols = Array.from({ length: 200 }, (_, i) => `S${String(i).padStart(3, '0')}`)
/** Age of the first live minute: sockets resume from at most a day ago, and a run must not reach the present. */
const liveBackSeconds = 23 * 3_600
const patienceMs = 150_000
const caughtUpMsMax = 60_000
const complaintsMax = 20

export interface ClusterFixtureOptions {
  readonly random: () => number
  /** Pause between two minutes of the feed. */
  readonly minuteMs: number
  readonly cluster?: Pick<ClusterOptions, 'around' | 'podEnv'>
}

/** A cluster of real processes with collectors that feed it and users that record everything. */
export class ClusterFixture {
  readonly cluster: Cluster
  readonly market: Market
  readonly live: Feeder
  readonly feeders: Feeder[] = []
  readonly outages: Outage[] = []
  readonly random: () => number
  readonly #home: string
  readonly #token: string
  readonly #minutes: Minute[] = []
  #users: ClusterUsers | undefined

  private constructor(cluster: Cluster, home: string, { random, minuteMs }: ClusterFixtureOptions) {
    this.cluster = cluster
    this.random = random
    this.#home = home
    this.#token = readFileSync(cluster.token, 'utf8').trim()
    this.market = new Market(random, Date.now(), { symbols, liveBackSeconds })
    this.live = this.feeder({
      mode: 'LIVE',
      // In some tests a second collector is active.
      standsBy: true,
      next: () => this.#nextMinute(),
      onAck: () => pause(minuteMs),
    })
  }

  static async start(options: ClusterFixtureOptions): Promise<ClusterFixture> {
    const home = mkdtempSync(join(tmpdir(), 'fxd-faults-'))
    const feeds = join(home, 'feeds.yaml')
    writeFileSync(feeds, manifestOf(symbols) + simulatedFeed)
    const cluster = await startCluster({ rest: 2, stream: 2, ingest: 2, feeds, ...options.cluster })
    const fixture = new ClusterFixture(cluster, home, options)
    try {
      fixture.#users = await ClusterUsers.start(cluster, fixture.market)
      fixture.live.start()
      await within(patienceMs, 'the first minute', () => fixture.live.ackedBatches > 0)
      await fixture.users.startRequests(fixture.market)
    } catch (cause) {
      await fixture.end()
      throw cause
    }
    return fixture
  }

  get users(): ClusterUsers {
    if (!this.#users) throw new Error('the fixture is not open')
    return this.#users
  }

  /** Creates a collector of the pushed feed, by default through the load balancer; the caller starts it. */
  feeder(options: Omit<FeederOptions, 'ingest'>, port: number = this.cluster.grpcPort): Feeder {
    const ingest = { grpc: `127.0.0.1:${port}`, token: this.#token }
    const feeder = new Feeder({ ingest, ...options })
    this.feeders.push(feeder)
    return feeder
  }

  get ackedBars(): number {
    return this.feeders.reduce((sum, { ackedBars }) => sum + ackedBars, 0)
  }

  /** Resolves once every client has received everything sent until now, or a GAP frame for it. */
  async caughtUp(): Promise<void> {
    const minutes = [...this.#minutes]
    const late = (): string[] =>
      this.users.clients.flatMap(({ record, name }) =>
        record === undefined
          ? [`${name} has no socket`]
          : isCaughtUp(record, minutes)
            ? []
            : [`${record.id} has ${record.seen.length} bars and gaps`],
      )
    await within(patienceMs, 'all clients to catch up', () => late().length === 0).catch((cause: unknown) => {
      throw new Error(`${late().join(', ')} of ${minutes.length} minutes`, { cause })
    })
  }

  /** Stops the feeders and checks promises 1 to 4; returns what is wrong, a sentence each. */
  async judge(): Promise<string[]> {
    const { users } = this
    await users.recovered()
    await this.#settle()
    const late = users.clients.filter(({ record }) => record && !isCaughtUp(record, this.#minutes))
    await users.untilAnswered()
    await users.stopRequests()
    // Restart: bars in memory might hide what the store lost.
    for (const { role, program } of this.cluster.pods)
      if (role === 'rest') {
        await program.kill()
        await program.start()
      }
    const shown = await readHistory(users, this.market, '1')
    const readings: Reading[] = this.feeders.flatMap((each) => each.readings)
    const sent = new Set(readings.map(({ symbol, bar }) => `${symbol} ${bar.time} ${bar.volume}`))
    const wasSent = (symbol: string, bar: { time: number; volume: number }): boolean =>
      sent.has(`${symbol} ${bar.time} ${bar.volume}`)
    const { records } = users
    const complaints = [
      ...(records.some(({ seen }) => seen.length > 0) ? [] : ['no bar came to any socket']),
      ...readings.filter(({ acked }) => !acked).map(({ symbol }) => `${symbol}: never acknowledged`),
      ...checkHistory(readings, shown),
      ...records.flatMap((record) => [
        ...checkSocket(record, this.#minutes),
        ...checkPushed(record, shown, wasSent),
      ]),
      ...late.map((client) => `${client.record?.id}: open and without the newest minute`),
      ...users.complaints(this.outages),
    ]
    return complaints.slice(0, complaintsMax)
  }

  /** Stops the feeders and waits until all clients have the newest minute, or for one minute. */
  async #settle(): Promise<void> {
    await Promise.all(this.feeders.map((each) => each.stop()))
    for (const { fault } of this.feeders) if (fault) throw fault
    await within(caughtUpMsMax, 'the newest minute', () =>
      this.users.clients.every(({ record }) => record !== undefined && isCaughtUp(record, this.#minutes)),
    ).catch(() => undefined)
  }

  /** Counts for the output of the run. */
  summary(): string {
    const broken = this.feeders.reduce((sum, each) => sum + each.broken, 0)
    const acked = `${this.ackedBars} bars acked in ${this.#minutes.length} minutes of the feed`
    return `${acked}, ${broken} sessions broken; ${this.users.summary()}`
  }

  async end(): Promise<readonly string[]> {
    await this.#users?.stop()
    const failed = await this.cluster.stop()
    rmSync(this.#home, { recursive: true, force: true })
    return failed
  }

  #nextMinute() {
    this.#minutes.push({
      time: this.market.liveBegin + 60 * this.market.minutes,
      begunMs: performance.now(),
    })
    return this.market.live()
  }
}
