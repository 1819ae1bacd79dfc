import { expect, test } from 'vitest'
import { silentLog } from '../services/platform/log.ts'
import { createVirtualClock } from '../test/support/virtual-clock.ts'
import { type FeedObject, keyLabel } from './kube/resources.ts'
import { Sweep, type SweepDeps } from './sweep.ts'

const feed = (account: string) => ({ key: `BROKERA:${account}`, owner: `uid of ${account}`, hidden: false })
const key = (id: string) => ({ id, owner: `uid of ${id}`, state: 'active' })
const secret = (of: string) => ({ metadata: { name: `${of}-digest`, uid: of, labels: { [keyLabel]: of } } })

/** What the sweep sees: objects of the cluster and rows of the registry, which a test changes. */
function start() {
  const clock = createVirtualClock()
  const done: string[] = []
  const world = {
    isLeader: true,
    isSynced: true,
    accounts: ['A', 'B'],
    apikeys: ['a', 'b'],
    secrets: ['a', 'b'],
    annotations: {} as Record<string, string>,
    /** What the API server lists; `undefined`: the same as the caches. */
    listed: undefined as readonly object[] | undefined,
    failsAt: '',
  }
  const cache = (all: () => readonly object[]) => ({
    all,
    get isSynced() {
      return world.isSynced
    },
  })
  const feedObjects = () =>
    world.accounts.map((account) => ({ spec: { broker: 'BROKERA', account } }) as FeedObject)
  const keyObjects = () => world.apikeys.map((name) => ({ metadata: { name } }))
  const feeds = new Map(['A', 'B'].map((account) => [`BROKERA:${account}`, feed(account)]))
  const keys = new Map(['a', 'b'].map((id) => [id, key(id)]))
  const deps = {
    api: {
      delete: async (_: unknown, name: string) => void done.push(`delete ${name}`),
      list: async ({ plural }: { plural: string }) => ({
        items: world.listed ?? (plural === 'feeds' ? feedObjects() : keyObjects()),
      }),
    },
    caches: {
      feeds: cache(feedObjects),
      apikeys: cache(keyObjects),
      secrets: cache(() => world.secrets.map(secret)),
    },
    registry: {
      feeds,
      keys,
      refresh: async () => undefined,
      removeFeed: async (of: string) => {
        feeds.delete(of)
        done.push(`remove ${of}`)
      },
      suspendKey: async (id: string) => {
        if (world.failsAt === id) {
          world.failsAt = ''
          throw new Error('unavailable')
        }
        keys.delete(id)
        done.push(`suspend ${id}`)
      },
    },
    events: { tell: () => undefined },
    clock,
    log: silentLog,
    isLeader: () => world.isLeader,
    annotations: () => world.annotations,
    annotate: (name: string, value: string | undefined) => {
      if (value === undefined) delete world.annotations[name]
      else world.annotations[name] = value
    },
    refreshed: () => undefined,
  }
  const sweep = new Sweep(deps as unknown as SweepDeps)
  return { clock, done, world, keys, sweep }
}

test('what belongs to objects that are gone goes, but not before they are gone for a while', async () => {
  const { clock, done, world, sweep } = start()
  await clock.advance(60_000)
  expect(done).toEqual([])
  world.accounts = ['A']
  world.apikeys = ['b']
  sweep.soon()
  await clock.advance(5_500)
  expect(done).toEqual([])
  await clock.advance(3_000)
  expect(done).toEqual(['remove BROKERA:B', 'suspend a'])
})

test('an object that comes back in time loses nothing', async () => {
  const { clock, done, world } = start()
  world.apikeys = ['b']
  await clock.advance(4_000)
  world.apikeys = ['a', 'b']
  await clock.advance(120_000)
  expect(done).toEqual([])
})

test('nothing goes while a cache is not in sync, or another replica leads', async () => {
  const { clock, done, world } = start()
  world.isSynced = false
  world.accounts = []
  await clock.advance(60_000)
  Object.assign(world, { isSynced: true, isLeader: false })
  await clock.advance(60_000)
  expect(done).toEqual([])
})

test('the Secrets of a key that is gone go after ten minutes', async () => {
  const { clock, done, world } = start()
  world.apikeys = ['b']
  await clock.advance(595_000)
  expect(done).toEqual(['suspend a'])
  await clock.advance(40_000)
  expect(done).toContain('delete a-digest')
  expect(done).not.toContain('delete b-digest')
})

const many = Array.from({ length: 20 }, (_, i) => `k${i}`)

test('of keys whose objects are deleted one after another no more than a mass deletion allows are suspended', async () => {
  const { clock, done, world, keys, sweep } = start()
  for (const id of many) keys.set(id, key(id))
  world.apikeys = ['a', 'b', ...many]
  await clock.advance(60_000)
  for (const id of many) {
    world.apikeys = world.apikeys.filter((each) => each !== id)
    sweep.soon()
    await clock.advance(3_000)
  }
  await clock.advance(120_000)
  expect(done.length).toBeLessThanOrEqual(5)
  expect(sweep.held('apikeys')).toBe(20 - done.length)
})

test('an object that the API server lists and the cache does not show loses nothing', async () => {
  const { clock, done, world } = start()
  world.listed = [
    { metadata: { name: 'a' }, spec: { broker: 'BROKERA', account: 'A' } },
    { metadata: { name: 'b' }, spec: { broker: 'BROKERA', account: 'B' } },
  ]
  Object.assign(world, { accounts: ['A'], apikeys: ['b'] })
  await clock.advance(900_000)
  expect(done).toEqual([])
})

test('a permission is finished after a failure half-way, and is used up', async () => {
  const { clock, done, world, keys } = start()
  const name = 'marketdata.fxd.dev/allow-mass-deletion'
  for (const id of many) keys.set(id, key(id))
  world.annotations = { [name]: '20 apikeys' }
  world.failsAt = 'k7'
  await clock.advance(120_000)
  expect(done).toEqual(many.map((id) => `suspend ${id}`))
  expect(world.annotations).toEqual({})
})
