import { setTimeout as pause } from 'node:timers/promises'
import type { ClientIdentity } from '../../../services/wire/client.ts'
import { checkHistory, type Reading } from '../../faults/checks/check-history.ts'
import {
  checkSocket,
  countGaps,
  isCaughtUp,
  type Minute,
  type SocketRecord,
} from '../../faults/checks/check-sockets.ts'
import { RepeatedCalls } from '../../faults/support/cluster-user.ts'
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
  /** Access to the service. */
  readonly outside: Pick<Outside, 'ws' | 'get'> & Partial<Pick<Outside, 'connection'>>
  /** host:port of ingest. */
  readonly ingest: string
  /** Token of the feed. */
  readonly token: string
  /** Absent: the connection to ingest is not encrypted. */
  readonly tls?: ClientIdentity['tls']
  readonly key: string
  readonly random: () => number
  /** Hours between the first minute and now; default 6. Each minute takes one second. */
  readonly hoursBack?: number | undefined
}

/**
 * Continuous load: a Push feed that starts hours in the past and closes a minute every second, correct clients on
 * sockets, and REST requests. It records everything, so that dozens of bars check each removal of a pod.
 */
export class Traffic {
  readonly #options: TrafficOptions
  readonly #minutes: Minute[] = []
  readonly market: Market
  readonly #feeder: Feeder
  readonly #clients: StreamClient[] = []
  /** Clients that disconnected by themselves. */
  readonly #left: StreamClient[] = []
  /** Number of REST answers per status; status 0 means no answer. */
  readonly statuses = new Map<number, number>()
  #asking: RepeatedCalls | undefined

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

  /** Starts the load. Resolves once every client has a bar. */
  async start(): Promise<void> {
    this.#feeder.start()
    await this.join(firstClients)
    this.#asking = new RepeatedCalls(2, 50, async () => {
      const { status } = await this.#options.outside.get(
        `/v1/history?symbol=${feed}:EURUSD&resolution=1&countback=5`,
        this.#options.key,
      )
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    })
  }

  /** Adds clients. Resolves once every one has a bar. */
  async join(count: number): Promise<void> {
    for (let more = 0; more < count; more += 1)
      this.#clients.push(this.#client(this.#everyone.length).start())
    await within(patienceMs, 'a bar at every client', () =>
      this.#clients.every(({ record }) => record !== undefined && record.seen.length > 0),
    )
  }

  /** Disconnects the newest clients. */
  async leave(count: number): Promise<void> {
    const leaving = this.#clients.splice(-count)
    this.#left.push(...leaving)
    await Promise.all(leaving.map((client) => client.stop()))
  }

  /** Everything that the feed sent, and whether it was acknowledged. */
  get readings(): readonly Reading[] {
    return this.#feeder.readings
  }

  /** Minutes of the feed so far. */
  get minutes(): number {
    return this.#minutes.length
  }

  /** Number of sockets per close code, and of rejected upgrades per status. */
  get ends(): ReadonlyMap<number, number> {
    const all = new Map<number, number>()
    for (const { ends } of this.#everyone)
      for (const [end, count] of ends) all.set(end, (all.get(end) ?? 0) + count)
    return all
  }

  /** Number of the collector's sessions that ended unexpectedly. */
  get brokenSessions(): number {
    return this.#feeder.broken
  }

  /** Makes the collector start another session with these credentials. */
  becomes(identity: ClientIdentity): void {
    this.#feeder.move({ ...this.#feeder.ingest, ...identity })
  }

  /** Number of bars received over sockets. */
  get pushed(): number {
    return this.#records.reduce((sum, { seen }) => sum + seen.filter(({ type }) => type === 'bar').length, 0)
  }

  /** Resolves once every client has everything sent so far. */
  async caughtUp(): Promise<void> {
    const minutes = [...this.#minutes]
    await within(patienceMs, 'all clients to catch up', () =>
      this.#clients.every(({ record }) => record !== undefined && isCaughtUp(record, minutes)),
    )
  }

  /**
   * Violations after planned removals, a sentence each: a bar that an open socket missed, a gap, a close other than 1012,
   * a failed REST request.
   */
  checkPlanned(): readonly string[] {
    const gaps = this.#everyone.flatMap(({ records, record: open }) =>
      records.flatMap((record) =>
        gapsThatStay(record, record === open).map((gap) => `${record.id} ${gap} was named`),
      ),
    )
    const closes = [...this.ends].filter(([end]) => end !== 1012)
    const failures = [...this.statuses].filter(([status]) => status !== 200)
    return [
      ...this.checkUnplanned(),
      ...gaps.slice(0, complaintsMax),
      ...closes.map(([end, count]) => `${count} sockets ended with ${end}`),
      ...failures.map(([status, count]) => `${count} requests got ${status}`),
    ]
  }

  /** Violations even after unplanned failures: a bar neither pushed nor named in a gap, or neither pushed nor in history. */
  checkUnplanned(): readonly string[] {
    return this.#missed.slice(0, complaintsMax)
  }

  /** Bars that ingest has acknowledged so far. */
  get acknowledged(): ReadonlySet<Reading> {
    return new Set(this.#feeder.readings.filter(({ acked }) => acked))
  }

  /** Bars that history lacks or shows with other values, and bars in history that were never sent, a sentence each. */
  async checkHistory(acknowledged: ReadonlySet<Reading> = this.acknowledged): Promise<readonly string[]> {
    const { outside, key } = this.#options
    const shown = await readHistory({ get: (path) => outside.get(path, key) }, this.market, '1')
    const readings = this.#feeder.readings.map((each) => ({ ...each, acked: acknowledged.has(each) }))
    return checkHistory(readings, shown).slice(0, complaintsMax)
  }

  /** A summary for the output of the run. */
  summary(): string {
    const [ends, statuses] = [this.ends, this.statuses].map((each) =>
      JSON.stringify(Object.fromEntries(each)),
    )
    const bars = `${this.acknowledged.size} bars acknowledged, ${this.pushed} pushed, ${this.#missed.length} missed, ${countGaps(this.#records)} named as gaps`
    return `${bars} in ${this.minutes} minutes of the feed; sockets ended ${ends}, REST answered ${statuses}`
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.stop()))
    await this.#asking?.stop()
    await this.#feeder.stop()
    if (this.#feeder.fault) throw this.#feeder.fault
  }

  get #missed(): readonly string[] {
    return this.#records.flatMap((record) => checkSocket(record, this.#minutes))
  }

  get #records() {
    return this.#everyone.flatMap(({ records }) => records)
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
 * The gaps that a socket got and stayed open. A socket that closes before it got all requested bars also gets a gap; its
 * client requests them again.
 */
const gapsThatStay = ({ seen }: SocketRecord, isOpen: boolean): readonly string[] =>
  seen.flatMap((gap, at) => {
    if (gap.type !== 'gap') return []
    const stays = isOpen || seen.slice(at).some((each) => each.type === 'bar' && each.symbol === gap.symbol)
    return stays ? [`a gap of ${gap.symbol} after ${gap.after} until ${gap.until}`] : []
  })
