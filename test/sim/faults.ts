import type { SimProcess } from './runtime/timeline.ts'
import type { Simulation } from './simulation.ts'

const meanPauseMs = 12_000

interface Fault {
  readonly name: string
  readonly run: (simulation: Simulation) => void
}

const restartMs = (simulation: Simulation): number => 500 + simulation.chance.next() * 6_000

function kill(process: SimProcess, restart: () => void, simulation: Simulation): void {
  if (!process.alive) return
  process.end()
  simulation.timeline.at(restartMs(simulation), restart)
}

/** Cuts two processes off from each other for 1 s to `msMax`. */
const cut = (a: string, b: string, simulation: Simulation, msMax = 20_000): void => {
  simulation.network.cut(a, b)
  simulation.timeline.at(1_000 + simulation.chance.next() * msMax, () => simulation.network.heal(a, b))
}

const pickOf = (simulation: Simulation, names: Iterable<string>): string => simulation.chance.pick([...names])

/** The faults of a run; all have the same probability. */
const faults: readonly Fault[] = [
  {
    name: 'an ingest is killed',
    run: (simulation) => {
      const name = pickOf(simulation, simulation.ingests.keys())
      const process = simulation.ingests.get(name)?.process
      if (process) kill(process, () => simulation.ingest(name), simulation)
    },
  },
  {
    name: 'a collector is killed',
    run: (simulation) => {
      const name = pickOf(simulation, simulation.collectors.keys())
      const process = simulation.collectors.get(name)
      if (process) kill(process, () => simulation.collector(name), simulation)
    },
  },
  {
    name: 'a shard is killed',
    run: (simulation) => {
      const name = pickOf(simulation, simulation.shards.keys())
      const shard = simulation.shards.get(name)
      if (!shard?.process.alive) return
      kill(shard.process, () => simulation.shard(name), simulation)
      simulation.shardEnded(shard)
    },
  },
  {
    name: 'a reader is killed',
    run: (simulation) => {
      const name = pickOf(simulation, simulation.readers.keys())
      const process = simulation.readers.get(name)?.process
      if (process) kill(process, () => simulation.reader(name), simulation)
    },
  },
  {
    name: 'a collector is cut off from an ingest',
    run: (simulation) =>
      cut(
        pickOf(simulation, simulation.collectors.keys()),
        pickOf(simulation, simulation.ingests.keys()),
        simulation,
      ),
  },
  {
    name: 'an ingest is cut off from the bus',
    run: (simulation) => cut(pickOf(simulation, simulation.ingests.keys()), 'bus', simulation),
  },
  {
    name: 'an ingest is cut off from Redis',
    run: (simulation) => cut(pickOf(simulation, simulation.ingests.keys()), 'redis', simulation),
  },
  {
    name: 'an ingest is cut off from the store',
    run: (simulation) => cut(pickOf(simulation, simulation.ingests.keys()), 'store', simulation),
  },
  {
    name: 'a shard is cut off from the bus',
    run: (simulation) => cut(pickOf(simulation, simulation.shards.keys()), 'bus', simulation),
  },
  {
    name: 'a shard is cut off from Redis',
    run: (simulation) => cut(pickOf(simulation, simulation.shards.keys()), 'redis', simulation),
  },
  {
    name: 'a shard is cut off from the store',
    run: (simulation) => cut(pickOf(simulation, simulation.shards.keys()), 'store', simulation),
  },
  {
    name: 'a reader is cut off from the store',
    run: (simulation) => cut(pickOf(simulation, simulation.readers.keys()), 'store', simulation),
  },
  {
    name: 'a client is cut off',
    run: (simulation) =>
      cut(
        simulation.chance.pick(simulation.clients).name,
        pickOf(simulation, simulation.shards.keys()),
        simulation,
      ),
  },
  {
    name: 'the store is unavailable for a while',
    run: (simulation) => {
      simulation.network.cut('store')
      simulation.timeline.at(1_000 + simulation.chance.next() * 20_000, () => {
        simulation.store.restart()
        simulation.network.heal('store')
      })
    },
  },
  { name: 'the bus is emptied', run: (simulation) => simulation.bus.empty() },
  {
    name: 'the bus fails over and loses its newest entries',
    run: (simulation) => simulation.bus.failOver(1 + simulation.chance.int(4)),
  },
  {
    name: 'the bus is emptied while a shard is cut off from it',
    run: (simulation) => {
      const shard = pickOf(simulation, simulation.shards.keys())
      simulation.network.cut(shard, 'bus')
      simulation.timeline.at(50_000, () => simulation.bus.empty())
      simulation.timeline.at(55_000, () => simulation.network.heal(shard, 'bus'))
    },
  },
  {
    name: 'the bus is emptied while all shards are cut off from it',
    run: ({ network, bus, shards, timeline }) => {
      for (const shard of shards.keys()) network.cut(shard, 'bus')
      timeline.at(50_000, () => bus.empty())
      timeline.at(55_000, () => shards.forEach((_, shard) => network.heal(shard, 'bus')))
    },
  },
  { name: 'leases are forgotten', run: (simulation) => simulation.redis.forgetLeases() },
  {
    name: 'messages are lost',
    run: (simulation) => {
      simulation.network.loss = 0.1
      simulation.timeline.at(8_000, () => (simulation.network.loss = 0))
    },
  },
  {
    name: 'messages are slow',
    run: (simulation) => {
      simulation.network.slow = true
      simulation.timeline.at(15_000, () => (simulation.network.slow = false))
    },
  },
  {
    name: 'the terminal loses its broker for a moment',
    run: (simulation) => simulation.market.interrupted(),
  },
]

/** Injects random faults until the given time. Faults may overlap. */
export function injectFaults(simulation: Simulation, untilMs: number): { readonly count: number } {
  const { timeline, chance } = simulation
  const drawn = { count: 0 }
  simulation.hasFaults = true
  const next = (): void => {
    timeline.at(chance.next() * 2 * meanPauseMs, () => {
      if (timeline.nowMs >= untilMs) return
      const { name, run } = chance.pick(faults)
      drawn.count += 1
      simulation.note(name)
      run(simulation)
      next()
    })
  }
  next()
  return drawn
}

/** Ends all faults. Killed processes restart by themselves. */
export function endFaults(simulation: Simulation): void {
  simulation.hasFaults = false
  simulation.network.healAll()
  simulation.store.restart()
}
