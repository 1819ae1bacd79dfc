import { setTimeout as pause } from 'node:timers/promises'
import type { ClientIdentity } from '../../../services/wire/client.ts'
import { checkHistory, type Reading } from '../../faults/support/check-history.ts'
import { checkLife, isCaughtUp, type Life, type Minute, namedIn } from '../../faults/support/check-sockets.ts'
import { Repeated } from '../../faults/support/cluster-user.ts'
import { Feeder } from '../../faults/support/feeder.ts'
import { feed, Market } from '../../faults/support/market.ts'
import { readHistory } from '../../faults/support/read-history.ts'
import { StreamClient } from '../../faults/support/stream-client.ts'
import { within } from '../../faults/support/within.ts'
import type { Outside } from './outside.ts'

const firstClients = 24
const patienceMs = 120_000
const complaintsMax = 20

export interface TrafficOptions {
  /** How it reaches the service. */
  readonly outside: Pick<Outside, 'ws' | 'get'> & Partial<Pick<Outside, 'connection'>>
  /** host:port of ingest. */
  readonly ingest: string
  /** Of the feed. */
  readonly token: string
  /** Absent: the connection to ingest is not encrypted. */
  readonly tls?: ClientIdentity['tls']
  readonly key: string
  readonly random: () => number
  /** So far in the past the first minute lies; 6 when left out. It takes one second to pass a minute. */
  readonly hoursBack?: number | undefined
}

/**
 * A Push feed that starts hours in the past and closes a minute every second, well-behaved clients on sockets, and REST
 * requests all the time. It remembers everything, so that each removal of a pod is judged by dozens of bars.
 */
export class Traffic {
  readonly #options: TrafficOptions
  readonly #minutes: Minute[] = []
  readonly market: Market
  readonly #feeder: Feeder
  readonly #clients: StreamClient[] = []
  /** Those who left on their own. */
  readonly #left: StreamClient[] = []
  /** How often REST answered with each status; 0: not at all. */
  readonly statuses = new Map<number, number>()
  #asking: Repeated | undefined

  constructor(options: TrafficOptions) {
    this.#options = options
    const { random, ingest, token, tls, hoursBack = 6 } = options
    this.market = new Market(random, Date.now(), { liveBackSeconds: hoursBack * 3_600 })
    this.#feeder = new Feeder({
      ingest: { grpc: ingest, token, tls },
      mode: 'LIVE',
      standsBy: true,
      keepalive: true,
      next: () => this.#nextMinute(),
      onAck: () => pause(1_000),
    })
  }

  /** Resolves once every client has got a bar. */
  async start(): Promise<void> {
    this.#feeder.start()
    await this.join(firstClients)
    this.#asking = new Repeated(2, 50, async () => {
      const { status } = await this.#options.outside.get(
        `/v1/history?symbol=${feed}:EURUSD&resolution=1&countback=5`,
        this.#options.key,
      )
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    })
  }

  /** More clients come; resolves once every one has got a bar. */
  async join(count: number): Promise<void> {
    for (let more = 0; more < count; more += 1)
      this.#clients.push(this.#client(this.#everyone.length).start())
    await within(patienceMs, 'a bar at every client', () =>
      this.#clients.every(({ life }) => life !== undefined && life.seen.length > 0),
    )
  }

  /** Clients that came last end their sockets. */
  async leave(count: number): Promise<void> {
    const leaving = this.#clients.splice(-count)
    this.#left.push(...leaving)
    await Promise.all(leaving.map((client) => client.stop()))
  }

  /** What the feed sent, and whether it was acknowledged. */
  get readings(): readonly Reading[] {
    return this.#feeder.readings
  }

  /** Minutes of the feed so far. */
  get minutes(): number {
    return this.#minutes.length
  }

  /** Sockets that were closed with each code, and upgrades that were refused with each status. */
  get ends(): ReadonlyMap<number, number> {
    const all = new Map<number, number>()
    for (const { ends } of this.#everyone)
      for (const [end, count] of ends) all.set(end, (all.get(end) ?? 0) + count)
    return all
  }

  /** Sessions of the feed's collector that ended before their time. */
  get brokenSessions(): number {
    return this.#feeder.broken
  }

  /** The collector begins another session, with these credentials. */
  becomes(identity: ClientIdentity): void {
    this.#feeder.move({ ...this.#feeder.ingest, ...identity })
  }

  /** Bars that came over sockets. */
  get pushed(): number {
    return this.#lives.reduce((sum, { seen }) => sum + seen.filter(({ type }) => type === 'bar').length, 0)
  }

  /** Resolves once every client has all that was sent until now. */
  async caughtUp(): Promise<void> {
    const minutes = [...this.#minutes]
    await within(patienceMs, 'all clients to catch up', () =>
      this.#clients.every(({ life }) => life !== undefined && isCaughtUp(life, minutes)),
    )
  }

  /**
   * What is wrong after removals that were planned, a sentence each: a bar that an open socket missed, a gap, a close
   * other than 1012, a REST request that failed.
   */
  judgePlanned(): readonly string[] {
    const gaps = this.#everyone.flatMap(({ lives, life: open }) =>
      lives.flatMap((life) =>
        gapsThatStay(life, life === open).map((symbol) => `${life.id} ${symbol}: a gap was named`),
      ),
    )
    const closes = [...this.ends].filter(([end]) => end !== 1012)
    const failures = [...this.statuses].filter(([status]) => status !== 200)
    return [
      ...this.judgeUnplanned(),
      ...gaps,
      ...closes.map(([end, count]) => `${count} sockets ended with ${end}`),
      ...failures.map(([status, count]) => `${count} requests got ${status}`),
    ].slice(0, complaintsMax)
  }

  /** What no failure excuses: a bar that is neither pushed nor named, or neither pushed nor in history. */
  judgeUnplanned(): readonly string[] {
    return this.#missed.slice(0, complaintsMax)
  }

  /** Bars that ingest has acknowledged until now. */
  get acknowledged(): ReadonlySet<Reading> {
    return new Set(this.#feeder.readings.filter(({ acked }) => acked))
  }

  /** Which of these bars history does not show, or not as they are, a sentence each; and what it shows that nobody sent. */
  async judgeHistory(acknowledged: ReadonlySet<Reading> = this.acknowledged): Promise<readonly string[]> {
    const { outside, key } = this.#options
    const shown = await readHistory({ get: (path) => outside.get(path, key) }, this.market, '1')
    const readings = this.#feeder.readings.map((each) => ({ ...each, acked: acknowledged.has(each) }))
    return checkHistory(readings, shown).slice(0, complaintsMax)
  }

  /** For whoever reads the run's output. */
  summary(): string {
    const [ends, statuses] = [this.ends, this.statuses].map((each) =>
      JSON.stringify(Object.fromEntries(each)),
    )
    const bars = `${this.acknowledged.size} bars acknowledged, ${this.pushed} pushed, ${this.#missed.length} missed, ${namedIn(this.#lives)} named as gaps`
    return `${bars} in ${this.minutes} minutes of the feed; sockets ended ${ends}, REST answered ${statuses}`
  }

  async stop(): Promise<void> {
    await this.#asking?.stop()
    await this.#feeder.stop()
    await Promise.all(this.#clients.map((client) => client.stop()))
    if (this.#feeder.fault) throw this.#feeder.fault
  }

  get #missed(): readonly string[] {
    return this.#lives.flatMap((life) => checkLife(life, this.#minutes))
  }

  get #lives() {
    return this.#everyone.flatMap(({ lives }) => lives)
  }

  get #everyone(): readonly StreamClient[] {
    return [...this.#clients, ...this.#left]
  }

  #client(number: number): StreamClient {
    const { outside, key, random } = this.#options
    return new StreamClient({
      name: `client-${number}`,
      url: outside.ws,
      ...(outside.connection && { connection: outside.connection }),
      key,
      feed,
      symbols: this.market.symbols,
      resumes: number % 2 === 1,
      random,
      fill: (symbol, after) => this.#timesAfter(symbol, after),
    })
  }

  #nextMinute() {
    const time = this.market.liveBegin + 60 * this.market.minutes
    this.#minutes.push({ time, begunMs: performance.now() })
    return this.market.live()
  }

  async #timesAfter(symbol: string, after: number): Promise<readonly number[]> {
    const to = Math.floor(Date.now() / 1_000)
    const path = `/v1/history?symbol=${feed}:${symbol}&resolution=1&from=${after + 1}&to=${to}`
    const { status, body } = await this.#options.outside.get(path, this.#options.key)
    if (status !== 200) throw new Error(`history answered ${status}`)
    return (body as { t?: readonly number[] }).t ?? []
  }
}

/**
 * Symbols of which a socket was told that bars are missing, and that went on. A socket that is closed before it was sent
 * what it asked for is told so, too; its client asks again.
 */
const gapsThatStay = ({ seen }: Life, isOpen: boolean): readonly string[] =>
  seen
    .filter(
      (gap, at) =>
        gap.type === 'gap' &&
        (isOpen || seen.slice(at).some((each) => each.type === 'bar' && each.symbol === gap.symbol)),
    )
    .map(({ symbol }) => symbol)
