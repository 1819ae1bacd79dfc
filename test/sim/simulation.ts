import { createHash } from 'node:crypto'
import type { History } from '../../services/bars/history.ts'
import { noBars, sliceBars, toList } from '../../services/core/bars/bar.ts'
import { feedSeconds, utcMs } from '../../services/core/clocks/feed-clock.ts'
import { serviceReader } from '../../services/core/fair-queue.ts'
import { type CompoundKey, compoundKey } from '../../services/core/feeds/compound-key.ts'
import { createLog, type Log, silentLog } from '../../services/platform/log/log.ts'
import { definition } from '../support/samples/samples.ts'
import { watchAcks } from './checks/acks.ts'
import type { Known } from './checks/check.ts'
import { Record } from './checks/record.ts'
import type { SimClient } from './clients.ts'
import type { Defect } from './defects.ts'
import { Market, marketNames } from './market.ts'
import {
  type Ports,
  type Reader,
  type Shard,
  startCollector,
  startIngest,
  startReader,
  startShard,
} from './roles.ts'
import { type Chance, createChance } from './runtime/chance.ts'
import { dialer, type SimIngest } from './runtime/link.ts'
import { Network } from './runtime/network.ts'
import { createProcess, createTimeline, type SimProcess, type Timeline } from './runtime/timeline.ts'
import { BusServer } from './servers/bus-server.ts'
import { SimDisk } from './servers/disk.ts'
import { RedisServer } from './servers/redis-server.ts'
import { StoreServer } from './servers/store-server.ts'

const startUtcMs = Date.UTC(2026, 0, 5, 12)
export const feed = definition({ resolutions: ['1'] })
export const symbols: readonly CompoundKey[] = marketNames.map((name) => compoundKey(feed.key, name))
const rawOf = (symbol: CompoundKey): string => symbol.slice(feed.key.length + 1)

const keyOf = (id: string, wsConnections: number) => ({
  id,
  name: '',
  prefix: 'fxd_0000',
  secrets: [{ digest: id }],
  plan: 'pro' as const,
  limits: { rpm: 12, rpd: 100_000, wsConnections, wsSymbols: 100 },
  feeds: [feed.key],
  allowIps: [],
  revoked: false,
  createdAt: utcMs(0),
})
export const keys = [keyOf('one', 2), keyOf('two', 3), keyOf('three', 2)] as const

/** All processes of one run, and the servers that they share. */
export class Simulation {
  readonly chance: Chance
  readonly timeline: Timeline = createTimeline()
  readonly network: Network
  readonly store: StoreServer
  readonly bus: BusServer
  readonly redis: RedisServer
  readonly market: Market
  readonly record = new Record()
  readonly ingests = new Map<string, SimIngest>()
  readonly shards = new Map<string, Shard>()
  readonly readers = new Map<string, Reader>()
  readonly collectors = new Map<string, SimProcess>()
  readonly clients: SimClient[] = []
  readonly rereadable: boolean
  /** Whether only visiting clients subscribe to one of the symbols. */
  readonly hasLonelySymbol: boolean
  hasFaults = false
  #lossListeners: (() => void)[] = []
  readonly #disks = new Map<string, SimDisk>()
  readonly #hash = createHash('sha256')
  readonly #defect: Defect | undefined
  readonly #trace: (line: string) => void
  /** Events in order of time, for a person who looks for the cause of a violation. */
  readonly eventLog: string[] = []

  readonly #log: Log

  /** `logsProcesses`: the event log contains the logs of the processes too. */
  constructor(seed: number, defect: Defect | undefined, logsProcesses = false) {
    this.chance = createChance(seed)
    this.#defect = defect
    const trace = (line: string): void =>
      void this.#hash.update(`${this.timeline.nowMs.toFixed(3)} ${line}\n`)
    this.#trace = trace
    const output = { write: (line: string) => void this.eventLog.push(`${this.#time()} ${line.trim()}`) }
    this.#log = logsProcesses ? createLog('info', output) : silentLog
    this.network = new Network(this.timeline, this.chance, trace)
    this.store = new StoreServer(this.network, {
      acksEarly: defect === 'acksEarly',
      lastWins: defect === 'lastWins',
    })
    this.bus = new BusServer(this.network, { hidesLoss: defect === 'hidesLoss' }, (event) => {
      trace(JSON.stringify(event))
      if (event.type === 'bars') for (const { symbol, bar } of event.bars) this.record.publish(symbol, bar)
    })
    this.bus.onLoss = () => this.#lossListeners.splice(0).forEach((run) => run())
    this.redis = this.#newRedis()
    this.market = new Market(startUtcMs / 60_000, this.chance)
    this.rereadable = this.chance.is(0.5)
    this.hasLonelySymbol = this.chance.is(0.5)
    this.store.contents.append(0, [
      { kind: 'feed', id: feed.key, body: { definition: feed, hidden: false } },
      ...keys.map((key) => ({ kind: 'key' as const, id: key.id, body: key })),
    ])
  }

  get trace(): string {
    return this.#hash.copy().digest('hex')
  }

  get feedNow(): number {
    return Math.floor((startUtcMs + this.timeline.nowMs) / 1000)
  }

  /** Starts or restarts a process. */
  ingest(name: string): void {
    const process = this.process(name)
    const ports = this.#ports(process)
    const ingest = startIngest(process, ports)
    this.ingests.set(name, {
      ...ingest,
      accept: (call) => {
        watchAcks(call, feed.key, this.record)
        ingest.accept(call)
      },
    })
  }

  collector(name: string): void {
    const process = this.process(name)
    this.collectors.set(name, process)
    const disk = this.#disks.get(name) ?? new SimDisk(this.chance)
    this.#disks.set(name, disk)
    const ingests = [...this.ingests.keys()]
    const first = this.chance.int(ingests.length)
    void startCollector(process, {
      definition: feed,
      source: this.market.terminal(process, this.rereadable),
      disk,
      spoolForgets: this.#defect === 'spoolForgets',
      addresses: [...ingests.slice(first), ...ingests.slice(0, first)],
      dial: dialer(process, this.network, this.timeline, (address) => this.ingests.get(address)),
    })
  }

  shard(name: string): void {
    const process = this.process(name)
    const ports = this.#ports(process)
    const { slots, bars } = ports
    if (this.#defect === 'overCap')
      ports.slots = { ...wrap(slots), open: (key, id, cap, day) => slots.open(key, id, cap + 1, day) }
    if (this.#defect === 'renewsNothing') ports.slots = { ...wrap(slots), renew: () => Promise.resolve([]) }
    if (this.#defect === 'emptyRefill') ports.bars = { ...bars, read: () => Promise.resolve(noBars) }
    const history = (whole: History): History => (this.#defect === 'shortReplay' ? short(whole) : whole)
    this.shards.set(name, startShard(process, ports, { history }))
  }

  reader(name: string): void {
    const process = this.process(name)
    const ports = this.#ports(process)
    const { bars } = ports
    if (this.#defect === 'ownLimits') ports.limits = this.#newRedis().of(process).limits
    if (this.#defect === 'emptyWhenUnavailable')
      ports.bars = { ...bars, read: (query) => bars.read(query).catch(() => noBars) }
    this.readers.set(name, startReader(process, ports))
  }

  process(name: string): SimProcess {
    return createProcess(name, this.timeline, this.chance, startUtcMs, this.#log)
  }

  note(what: string): void {
    this.#trace(what)
    this.eventLog.push(`${this.#time()} ${what}`)
  }

  #time = (): string => `${(this.timeline.nowMs / 1000).toFixed(1)} s:`

  onNextLoss(run: () => void): void {
    this.#lossListeners.push(run)
  }

  shardEnded(shard: Shard): void {
    for (const client of this.clients) client.disconnect(shard)
  }

  /** Checks promise 4 whenever a socket has opened. */
  checkCap({ key }: SimClient): void {
    const cap = keys.find(({ id }) => id === key)?.limits.wsConnections ?? 0
    const open = this.clients.filter((client) => client.key === key && client.hasSlot).length
    if (open > cap) this.record.violations.push(`${key}: ${open} sockets, ${cap} allowed`)
  }

  /** All stored bars of a symbol. */
  stored = (symbol: CompoundKey) =>
    toList(
      this.store.contents.read({
        series: { feed: feed.key, symbol, resolution: '1' },
        from: feedSeconds(0),
        to: feedSeconds(2 ** 37),
      }),
    )

  known = (symbol: CompoundKey): Known => ({
    symbol,
    stored: this.stored(symbol),
    broker: this.market.bars(rawOf(symbol)),
    closes: (time) => this.market.closes(rawOf(symbol), time),
  })

  #newRedis(): RedisServer {
    return new RedisServer(this.process('redis'), this.network, this.#defect === 'slotsStay')
  }

  #ports(process: SimProcess): { -readonly [P in keyof Ports]: Ports[P] } {
    return { ...this.store.of(process), ...this.redis.of(process), bus: this.bus.of(process) }
  }
}

/** The methods of a proxy as own properties, so that a spread copies them. */
const wrap = <P extends object>(port: P): P =>
  ({
    open: (port as { open?: unknown }).open,
    renew: (port as { renew?: unknown }).renew,
    close: (port as { close?: unknown }).close,
    inUse: (port as { inUse?: unknown }).inUse,
  }) as unknown as P

const short = (history: History): History => ({
  ...history,
  async *range(series, from, to) {
    let isFirst = true
    for await (const bars of history.range(series, from, to, serviceReader('asker'))) {
      yield isFirst ? sliceBars(bars, 1, bars.time.length) : bars
      isFirst = false
    }
  },
})
