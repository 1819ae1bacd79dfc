import type { SimProcess } from './timeline.ts'
import type { World } from './world.ts'

const meanPauseMs = 12_000

interface Fault {
  readonly name: string
  readonly run: (world: World) => void
}

const restartMs = (world: World): number => 500 + world.chance.next() * 6_000

function kill(process: SimProcess, restart: () => void, world: World): void {
  if (!process.alive) return
  process.end()
  world.timeline.at(restartMs(world), restart)
}

/** Cuts two processes off from each other for 1 s to `msMax`. */
const cut = (a: string, b: string, world: World, msMax = 20_000): void => {
  world.network.cut(a, b)
  world.timeline.at(1_000 + world.chance.next() * msMax, () => world.network.heal(a, b))
}

const pickOf = (world: World, names: Iterable<string>): string => world.chance.pick([...names])

/** The faults of a run; all have the same probability. */
const faults: readonly Fault[] = [
  {
    name: 'an ingest is killed',
    run: (world) => {
      const name = pickOf(world, world.ingests.keys())
      const process = world.ingests.get(name)?.process
      if (process) kill(process, () => world.ingest(name), world)
    },
  },
  {
    name: 'a collector is killed',
    run: (world) => {
      const name = pickOf(world, world.collectors.keys())
      const process = world.collectors.get(name)
      if (process) kill(process, () => world.collector(name), world)
    },
  },
  {
    name: 'a shard is killed',
    run: (world) => {
      const name = pickOf(world, world.shards.keys())
      const shard = world.shards.get(name)
      if (!shard?.process.alive) return
      kill(shard.process, () => world.shard(name), world)
      world.shardEnded(shard)
    },
  },
  {
    name: 'a reader is killed',
    run: (world) => {
      const name = pickOf(world, world.readers.keys())
      const process = world.readers.get(name)?.process
      if (process) kill(process, () => world.reader(name), world)
    },
  },
  {
    name: 'a collector is cut off from an ingest',
    run: (world) => cut(pickOf(world, world.collectors.keys()), pickOf(world, world.ingests.keys()), world),
  },
  {
    name: 'an ingest is cut off from the bus',
    run: (world) => cut(pickOf(world, world.ingests.keys()), 'bus', world),
  },
  {
    name: 'an ingest is cut off from Redis',
    run: (world) => cut(pickOf(world, world.ingests.keys()), 'redis', world),
  },
  {
    name: 'an ingest is cut off from the store',
    run: (world) => cut(pickOf(world, world.ingests.keys()), 'store', world),
  },
  {
    name: 'a shard is cut off from the bus',
    run: (world) => cut(pickOf(world, world.shards.keys()), 'bus', world),
  },
  {
    name: 'a shard is cut off from Redis',
    run: (world) => cut(pickOf(world, world.shards.keys()), 'redis', world),
  },
  {
    name: 'a shard is cut off from the store',
    run: (world) => cut(pickOf(world, world.shards.keys()), 'store', world),
  },
  {
    name: 'a reader is cut off from the store',
    run: (world) => cut(pickOf(world, world.readers.keys()), 'store', world),
  },
  {
    name: 'a client is cut off',
    run: (world) => cut(world.chance.pick(world.clients).name, pickOf(world, world.shards.keys()), world),
  },
  {
    name: 'the store is unavailable for a while',
    run: (world) => {
      world.network.cut('store')
      world.timeline.at(1_000 + world.chance.next() * 20_000, () => {
        world.store.restart()
        world.network.heal('store')
      })
    },
  },
  { name: 'the bus is emptied', run: (world) => world.bus.empty() },
  {
    name: 'the bus fails over and loses its newest entries',
    run: (world) => world.bus.failOver(1 + world.chance.int(4)),
  },
  {
    name: 'the bus is emptied while a shard is cut off from it',
    run: (world) => {
      const shard = pickOf(world, world.shards.keys())
      world.network.cut(shard, 'bus')
      world.timeline.at(50_000, () => world.bus.empty())
      world.timeline.at(55_000, () => world.network.heal(shard, 'bus'))
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
  { name: 'leases are forgotten', run: (world) => world.redis.forgetLeases() },
  {
    name: 'messages are lost',
    run: (world) => {
      world.network.loss = 0.1
      world.timeline.at(8_000, () => (world.network.loss = 0))
    },
  },
  {
    name: 'messages are slow',
    run: (world) => {
      world.network.slow = true
      world.timeline.at(15_000, () => (world.network.slow = false))
    },
  },
  { name: 'the terminal loses its broker for a moment', run: (world) => world.market.interrupted() },
]

/** Injects random faults until the given time. Faults may overlap. */
export function injectFaults(world: World, untilMs: number): { readonly count: number } {
  const { timeline, chance } = world
  const drawn = { count: 0 }
  world.hasFaults = true
  const next = (): void => {
    timeline.at(chance.next() * 2 * meanPauseMs, () => {
      if (timeline.nowMs >= untilMs) return
      const { name, run } = chance.pick(faults)
      drawn.count += 1
      world.note(name)
      run(world)
      next()
    })
  }
  next()
  return drawn
}

/** Ends all faults. Killed processes restart by themselves. */
export function endFaults(world: World): void {
  world.hasFaults = false
  world.network.healAll()
  world.store.restart()
}
