import type { Life } from './timeline.ts'
import type { World } from './world.ts'

const meanPauseMs = 12_000

interface Fault {
  readonly name: string
  readonly run: (world: World) => void
}

const restartMs = (world: World): number => 500 + world.chance.next() * 6_000

function kill(life: Life, again: () => void, world: World): void {
  if (!life.alive) return
  life.end()
  world.timeline.at(restartMs(world), again)
}

/** Two that hear nothing of each other for a while. */
const cut = (a: string, b: string, world: World, msMax = 20_000): void => {
  world.network.cut(a, b)
  world.timeline.at(1_000 + world.chance.next() * msMax, () => world.network.heal(a, b))
}

const pickOf = (world: World, names: Iterable<string>): string => world.chance.pick([...names])

/** What may go wrong; each is drawn as often as the others. */
const faults: readonly Fault[] = [
  {
    name: 'an ingest is killed',
    run: (world) => {
      const name = pickOf(world, world.ingests.keys())
      const life = world.ingests.get(name)?.life
      if (life) kill(life, () => world.ingest(name), world)
    },
  },
  {
    name: 'a collector is killed',
    run: (world) => {
      const name = pickOf(world, world.collectors.keys())
      const life = world.collectors.get(name)
      if (life) kill(life, () => world.collector(name), world)
    },
  },
  {
    name: 'a shard is killed',
    run: (world) => {
      const name = pickOf(world, world.shards.keys())
      const shard = world.shards.get(name)
      if (!shard?.life.alive) return
      kill(shard.life, () => world.shard(name), world)
      world.shardDied(shard)
    },
  },
  {
    name: 'a reader is killed',
    run: (world) => {
      const name = pickOf(world, world.readers.keys())
      const life = world.readers.get(name)?.life
      if (life) kill(life, () => world.reader(name), world)
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
    name: 'the store is away and comes back',
    run: (world) => {
      world.store.away = true
      world.timeline.at(1_000 + world.chance.next() * 20_000, () => {
        world.store.restart()
        world.store.away = false
      })
    },
  },
  { name: 'the bus is emptied', run: (world) => world.bus.empty() },
  {
    name: 'the bus fails over and loses its newest',
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

/** Draws faults until the time; they may meet each other. */
export function trouble(world: World, untilMs: number): { readonly count: number } {
  const { timeline, chance } = world
  const drawn = { count: 0 }
  world.troubled = true
  const next = (): void => {
    timeline.at(chance.next() * 2 * meanPauseMs, () => {
      if (timeline.nowMs >= untilMs) return
      const { name, run } = chance.pick(faults)
      drawn.count += 1
      world.tell(name)
      run(world)
      next()
    })
  }
  next()
  return drawn
}

/** Everything is well again; what was killed comes back by itself. */
export function calm(world: World): void {
  world.troubled = false
  world.network.healAll()
  world.store.restart()
  world.store.away = false
}
