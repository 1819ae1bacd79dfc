import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Cluster, type ClusterOptions, startCluster } from '../../support/cluster/cluster.ts'
import { simulatedFeed } from '../../support/samples/simulated-feed.ts'
import { checkHistory, type Reading } from './check-history.ts'
import type { Outage } from './check-limits.ts'
import { checkLife, checkPushed, isCaughtUp, type Minute } from './check-sockets.ts'
import { ClusterPeople } from './cluster-people.ts'
import { Feeder, type FeederOptions } from './feeder.ts'
import { Market, manifestOf } from './market.ts'
import { readHistory } from './read-history.ts'
import { within } from './within.ts'

/** As many as a manifest lists. */
const symbols = Array.from({ length: 200 }, (_, i) => `S${String(i).padStart(3, '0')}`)
/** A socket may be resumed from a day ago; what lies before now bounds how many minutes a run may send. */
const liveBackSeconds = 23 * 3_600
const patienceMs = 150_000
const caughtUpMsMax = 60_000
const complaintsMax = 20

export interface ClusterFixtureOptions {
  readonly random: () => number
  /** Between two minutes of the feed. */
  readonly minuteMs: number
  readonly cluster?: Pick<ClusterOptions, 'around' | 'podEnv'>
}

/** A cluster of real processes with collectors that feed it and users that remember everything. */
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
  #people: ClusterPeople | undefined

  private constructor(cluster: Cluster, home: string, { random, minuteMs }: ClusterFixtureOptions) {
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

  static async start(options: ClusterFixtureOptions): Promise<ClusterFixture> {
    const home = mkdtempSync(join(tmpdir(), 'fxd-faults-'))
    const feeds = join(home, 'feeds.yaml')
    writeFileSync(feeds, manifestOf(symbols) + simulatedFeed)
    const cluster = await startCluster({ rest: 2, stream: 2, ingest: 2, feeds, ...options.cluster })
    const fixture = new ClusterFixture(cluster, home, options)
    try {
      fixture.#people = await ClusterPeople.gather(cluster, fixture.market)
      fixture.live.start()
      await within(patienceMs, 'the first minute', () => fixture.live.ackedBatches > 0)
      await fixture.people.ask(fixture.market)
    } catch (cause) {
      await fixture.end()
      throw cause
    }
    return fixture
  }

  get people(): ClusterPeople {
    if (!this.#people) throw new Error('the fixture is not open')
    return this.#people
  }

  /** A collector of the pushed feed, by default through the load balancer; it starts when it is told. */
  feeder(options: Omit<FeederOptions, 'ingest'>, port: number = this.cluster.grpcPort): Feeder {
    const ingest = { grpc: `127.0.0.1:${port}`, token: this.#token }
    const feeder = new Feeder({ ingest, ...options })
    this.feeders.push(feeder)
    return feeder
  }

  get ackedBars(): number {
    return this.feeders.reduce((sum, { ackedBars }) => sum + ackedBars, 0)
  }

  /** Resolves once every client has, or was told to miss, what was sent until now. */
  async caughtUp(): Promise<void> {
    const minutes = [...this.#minutes]
    const late = (): string[] =>
      this.people.clients.flatMap(({ life, name }) =>
        life === undefined
          ? [`${name} has no socket`]
          : isCaughtUp(life, minutes)
            ? []
            : [`${life.id} has ${life.seen.length} bars and gaps`],
      )
    await within(patienceMs, 'all clients to catch up', () => late().length === 0).catch((cause: unknown) => {
      throw new Error(`${late().join(', ')} of ${minutes.length} minutes`, { cause })
    })
  }

  /** What is wrong in the end, a sentence each: the four promises. */
  async judge(): Promise<string[]> {
    const { people } = this
    await people.recovered()
    await this.#settle()
    const late = people.clients.filter(({ life }) => life && !isCaughtUp(life, this.#minutes))
    await people.answered()
    await people.rest()
    // The memory of a process might stand in for what the store lost.
    for (const { role, program } of this.cluster.pods)
      if (role === 'rest') {
        await program.kill()
        await program.start()
      }
    const shown = await readHistory(people, this.market, '1')
    const readings: Reading[] = this.feeders.flatMap((each) => each.readings)
    const sent = new Set(readings.map(({ symbol, bar }) => `${symbol} ${bar.time} ${bar.volume}`))
    const wasSent = (symbol: string, bar: { time: number; volume: number }): boolean =>
      sent.has(`${symbol} ${bar.time} ${bar.volume}`)
    const { lives } = people
    const complaints = [
      ...(lives.some(({ seen }) => seen.length > 0) ? [] : ['no bar came to any socket']),
      ...readings.filter(({ acked }) => !acked).map(({ symbol }) => `${symbol}: never acknowledged`),
      ...checkHistory(readings, shown),
      ...lives.flatMap((life) => [...checkLife(life, this.#minutes), ...checkPushed(life, shown, wasSent)]),
      ...late.map((client) => `${client.life?.id}: open and without the newest minute`),
      ...people.complaints(this.outages),
    ]
    return complaints.slice(0, complaintsMax)
  }

  /** Feeders stop, and what is on its way arrives; resolves after a while also when it does not. */
  async #settle(): Promise<void> {
    await Promise.all(this.feeders.map((each) => each.stop()))
    for (const { fault } of this.feeders) if (fault) throw fault
    await within(caughtUpMsMax, 'the newest minute', () =>
      this.people.clients.every(({ life }) => life !== undefined && isCaughtUp(life, this.#minutes)),
    ).catch(() => undefined)
  }

  /** For whoever reads the run's output. */
  told(): string {
    const broken = this.feeders.reduce((sum, each) => sum + each.broken, 0)
    const acked = `${this.ackedBars} bars acked in ${this.#minutes.length} minutes of the feed`
    return `${acked}, ${broken} sessions broken; ${this.people.told()}`
  }

  async end(): Promise<readonly string[]> {
    await this.#people?.leave()
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
