import { isGranted } from '../../services/access/grant.ts'
import { barCount, toList } from '../../services/core/bars/bar.ts'
import { feedSeconds } from '../../services/core/clocks/feed-clock.ts'
import { serviceReader } from '../../services/core/fair-queue.ts'
import { RecentBars } from '../../services/stream/live/recent-bars.ts'
import { checkCaughtUp, checkHistory, checkMinutes, checkSocket, type Known } from './checks/check.ts'
import type { SocketRecord } from './checks/record.ts'
import { SimClient } from './clients.ts'
import type { Defect } from './defects.ts'
import { endFaults, injectFaults } from './faults.ts'
import { feed, keys, Simulation, symbols } from './simulation.ts'

const minuteMs = 60_000
const faultyMinutes = 4
const quietMinutes = 3
/** Delay after which a terminal reports a closed minute. */
const closeDelayMs = 150

export interface Outcome {
  readonly seed: number
  readonly violations: readonly string[]
  /** Digest of everything that was sent; two runs of one seed have the same trace. */
  readonly trace: string
  readonly events: number
  readonly ackedBars: number
  readonly faults: number
  readonly eventLog: readonly string[]
  readonly sockets: readonly SocketRecord[]
}

/** One run of the whole cluster: some minutes with faults, some without, then all checks. */
export async function simulate(
  seed: number,
  defect?: Defect,
  { logsProcesses = false }: { readonly logsProcesses?: boolean } = {},
): Promise<Outcome> {
  const restore = defect === 'recentKeeps' ? spoilRecentBars() : undefined
  const simulation = new Simulation(seed, defect, logsProcesses)
  const { timeline, chance, record } = simulation
  try {
    for (const name of ['ingest-1', 'ingest-2']) simulation.ingest(name)
    simulation.collector('collector-1')
    if (chance.is(0.5)) simulation.collector('collector-2')
    for (const name of ['shard-1', 'shard-2']) simulation.shard(name)
    for (const name of ['reader-1', 'reader-2']) simulation.reader(name)
    const clients = [0, 1, 2, 3, 4, 5].map(
      (i) => new SimClient(simulation, `client-${i}`, keys[i < 3 ? 0 : 1]),
    )
    clients.push(...[6, 7].map((i) => new SimClient(simulation, `client-${i}`, keys[2], true)))
    simulation.clients.push(...clients)
    for (const client of clients) client.start()
    readHistory(simulation)
    sendRequests(simulation)
    const minutes = faultyMinutes + quietMinutes
    for (let minute = 0; minute < minutes; minute++) {
      timeline.at((minute + 1) * minuteMs + closeDelayMs, () => {
        simulation.market.closeMinute(feedSeconds(simulation.feedNow - (simulation.feedNow % 60) - 60))
        if (minute < minutes - 2)
          for (const _ of [1, 2]) timeline.at(chance.next() * 40_000, () => simulation.market.correct())
      })
    }
    const faults = injectFaults(simulation, faultyMinutes * minuteMs)
    await timeline.runUntil(faultyMinutes * minuteMs)
    endFaults(simulation)
    await timeline.runUntil(minutes * minuteMs + 40_000)
    check(simulation, clients)
    const { events } = timeline
    const { violations, ackedBars } = record
    return {
      seed,
      violations,
      trace: simulation.trace,
      events,
      ackedBars,
      faults: faults.count,
      eventLog: simulation.eventLog,
      sockets: record.sockets,
    }
  } finally {
    simulation.store.close()
    restore?.()
  }
}

/** Spoils the class `RecentBars`, because a shard creates its instances itself. Returns a function that restores it. */
function spoilRecentBars(): () => void {
  const restart = Object.getOwnPropertyDescriptor(RecentBars.prototype, 'restart') as PropertyDescriptor
  Object.defineProperty(RecentBars.prototype, 'restart', { ...restart, value: () => undefined })
  return () => void Object.defineProperty(RecentBars.prototype, 'restart', restart)
}

function check(simulation: Simulation, clients: readonly SimClient[]): void {
  const { record } = simulation
  const { violations } = record
  violations.push(
    ...symbols.flatMap((symbol) => checkHistory(record, simulation.known(symbol), simulation.feedNow - 60)),
  )
  const closes = new Map<string, Known['closes']>(
    symbols.map((each) => [each, simulation.known(each).closes]),
  )
  for (const socket of record.sockets)
    violations.push(...checkSocket(record, socket, closes), ...checkMinutes(record, socket))
  for (const { id, limits } of keys) {
    const open = clients.filter((client) => client.key === id && client.open).length
    const wanted = Math.min(limits.wsConnections, clients.filter(({ key }) => key === id).length)
    if (open < wanted) violations.push(`${id}: ${open} sockets of ${wanted}, minutes after the last fault`)
  }
  for (const client of clients) {
    for (const symbol of client.symbols) {
      const newest = Math.max(0, ...(record.published.get(symbol)?.keys() ?? []))
      if (client.socket) violations.push(...checkCaughtUp(client.socket, symbol, newest))
    }
  }
  for (const [window, count] of record.admitted) {
    const key = keys.find(({ id }) => window.startsWith(`${id} `))
    if (key && count > key.limits.rpm)
      violations.push(`${window}: ${count} admitted, ${key.limits.rpm} allowed`)
  }
}

/** Checks promise 5, and that history shows every bar that was stored before the request. */
function readHistory(simulation: Simulation): void {
  const { timeline, chance, record } = simulation
  const ask = async (): Promise<void> => {
    const reader = chance.pick([...simulation.readers.values()])
    const symbol = chance.pick(symbols)
    const known = simulation.stored(symbol)
    const to = feedSeconds(simulation.feedNow)
    const series = { feed: feed.key, symbol, resolution: '1' as const }
    const shown: number[] = []
    for await (const bars of reader.history.range(series, feedSeconds(0), to, serviceReader('asker'))) {
      if (barCount(bars) === 0) record.violations.push(`${reader.process.name}: an empty slice`)
      shown.push(...toList(bars).map(({ time }) => time))
    }
    const times = new Set(shown)
    if (times.size !== shown.length) record.violations.push(`${symbol}: history has a time twice`)
    if (shown.some((time, i) => time <= (shown[i - 1] ?? -1)))
      record.violations.push(`${symbol}: history is not in order`)
    for (const { time } of known)
      if (!times.has(time))
        record.violations.push(
          `${symbol} ${time}: stored, but missing in the history of ${reader.process.name}`,
        )
  }
  const next = (): void => {
    timeline.at(2_000 + chance.next() * 8_000, () => {
      ask().catch(() => undefined)
      next()
    })
  }
  next()
}

/** Checks promise 4: requests of all keys over all pods. */
function sendRequests({ timeline, chance, record, readers }: Simulation): void {
  const next = (): void => {
    timeline.at(chance.next() * 4_000, () => {
      const reader = chance.pick([...readers.values()])
      const key = chance.pick(keys)
      if (isGranted(key, feed.key))
        reader
          .admit(key)
          .then((minute) => {
            const window = `${key.id} ${minute}`
            if (minute !== undefined) record.admitted.set(window, (record.admitted.get(window) ?? 0) + 1)
          })
          .catch(() => undefined)
      next()
    })
  }
  next()
}
