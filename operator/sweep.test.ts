import { expect, test } from 'vitest'
import { silentLog } from '../services/platform/log/log.ts'
import { createVirtualClock } from '../test/support/fixtures/virtual-clock.ts'
import { NotLeading } from './controller.ts'
import { type FeedObject, keyLabel } from './kube/resources.ts'
import { Sweep, type SweepDeps } from './sweep.ts'

const feed = (account: string) => ({ key: `BROKERA:${account}`, owner: `uid of ${account}`, hidden: false })
const key = (id: string) => ({ id, owner: `uid of ${id}`, state: 'active' })
const secretsOf = (of: string, deletionPolicy: string) => [
  {
    metadata: {
      name: `${of}-digest`,
      uid: of,
      labels: { [keyLabel]: of },
      annotations: { 'marketdata.fxd.dev/deletion-policy': deletionPolicy },
    },
  },
  { metadata: { name: of, uid: `${of}-2`, labels: { [keyLabel]: of } } },
]

/** The sweep's input, which a test changes: objects of the cluster and rows of the registry. */
function start() {
  const clock = createVirtualClock()
  const done: string[] = []
  const cluster = {
    isLeader: true,
    isSynced: true,
    accounts: ['A', 'B'],
    apikeys: ['a', 'b'],
    /** ApiKeys with Secrets, and their policies. */
    policies: { a: 'Retain', b: 'Retain' } as Record<string, string>,
    annotations: {} as Record<string, string>,
    /** The API server's list; `undefined`: the same as the caches. */
    listed: undefined as readonly object[] | undefined,
    failsAt: '',
    failsWith: new Error('unavailable'),
    /** The list of the registry that cannot be read. */
    unreadable: '',
    warnings: [] as string[],
    infos: [] as string[],
    /** Lists of the registry as they were read, also in vain. */
    read: [] as string[],
  }
  const cache = (all: () => readonly object[]) => ({
    all,
    get isSynced() {
      return cluster.isSynced
    },
  })
  const feedObjects = () =>
    cluster.accounts.map((account) => ({ spec: { broker: 'BROKERA', account } }) as FeedObject)
  const keyObjects = () => cluster.apikeys.map((name) => ({ metadata: { name } }))
  const listOf = <T>(name: string, rows: [string, T][]) => {
    const refresh = async (): Promise<void> => {
      if (cluster.unreadable === name) throw new Error('unavailable')
    }
    return Object.assign(new Map(rows), { refresh })
  }
  const feeds = listOf(
    'feeds',
    ['A', 'B'].map((account) => [`BROKERA:${account}`, feed(account)]),
  )
  const keys = listOf(
    'keys',
    ['a', 'b'].map((id) => [id, key(id)]),
  )
  const deps = {
    api: {
      delete: async (_: unknown, name: string) => void done.push(`delete ${name}`),
      list: async ({ plural }: { plural: string }) => ({
        items: cluster.listed ?? (plural === 'feeds' ? feedObjects() : keyObjects()),
      }),
    },
    caches: {
      feeds: cache(feedObjects),
      apikeys: cache(keyObjects),
      secrets: cache(() => Object.entries(cluster.policies).flatMap((each) => secretsOf(...each))),
    },
    registry: {
      storeIdentity: '',
      feeds,
      keys,
      removeFeed: async (of: string) => {
        if (cluster.failsAt === of) throw cluster.failsWith
        feeds.delete(of)
        done.push(`remove ${of}`)
      },
      suspendKey: async (id: string) => {
        if (cluster.failsAt === id) {
          cluster.failsAt = ''
          throw cluster.failsWith
        }
        keys.delete(id)
        done.push(`suspend ${id}`)
      },
    },
    events: { record: () => undefined },
    clock,
    log: {
      ...silentLog,
      warn: (...[, text]: unknown[]) => void cluster.warnings.push(String(text)),
      info: (...[, text]: unknown[]) => void cluster.infos.push(String(text)),
    },
    isLeader: () => cluster.isLeader,
    annotations: () => cluster.annotations,
    annotate: (name: string, value: string | undefined) => {
      if (value === undefined) delete cluster.annotations[name]
      else cluster.annotations[name] = value
    },
    hasRead: (kind: string) => void cluster.read.push(kind),
    readStores: async () => undefined,
  }
  const sweep = new Sweep(deps as unknown as SweepDeps)
  return { clock, done, cluster, keys, sweep }
}

test('the feed of a deleted object is removed after a delay', async () => {
  const { clock, done, cluster, sweep } = start()
  await clock.advance(60_000)
  expect(done).toEqual([])
  cluster.accounts = ['A']
  sweep.soon()
  await clock.advance(5_500)
  expect(done).toEqual([])
  await clock.advance(3_000)
  expect(done).toEqual(['remove BROKERA:B'])
})

test('the key of a deleted object is suspended after a second', async () => {
  const { clock, done, cluster, sweep } = start()
  await clock.advance(65_000)
  cluster.apikeys = ['b']
  sweep.keyDeleted('a')
  await clock.advance(999)
  expect(done).toEqual([])
  await clock.advance(1)
  expect(done).toEqual(['suspend a'])
})

test('an ApiKey that is deleted just before a round and made again within a second loses nothing', async () => {
  const { clock, done, cluster, sweep } = start()
  await clock.advance(65_000)
  sweep.soon()
  await clock.advance(500)
  cluster.apikeys = ['b']
  sweep.keyDeleted('a')
  await clock.advance(900)
  cluster.apikeys = ['a', 'b']
  await clock.advance(120_000)
  expect(done).toEqual([])
})

test('an object that reappears within the delay loses nothing', async () => {
  const { clock, done, cluster } = start()
  cluster.accounts = ['A']
  await clock.advance(4_000)
  cluster.accounts = ['A', 'B']
  await clock.advance(120_000)
  expect(done).toEqual([])
})

test('nothing is removed while a cache is not in sync or another replica leads', async () => {
  const { clock, done, cluster } = start()
  cluster.isSynced = false
  Object.assign(cluster, { accounts: [], apikeys: [], policies: { a: 'Delete' } })
  await clock.advance(60_000)
  Object.assign(cluster, { isSynced: true, isLeader: false })
  await clock.advance(60_000)
  expect(done).toEqual([])
})

test.for([
  ['Delete', ['suspend a', 'delete a', 'delete a-digest']],
  ['Retain', ['suspend a']],
] as const)('after a deletion with the policy %s these steps follow: %s', async ([policy, wanted]) => {
  const { clock, done, cluster } = start()
  cluster.policies = { a: policy, b: 'Delete' }
  cluster.apikeys = ['b']
  await clock.advance(40_000)
  expect(done.slice(0, wanted.length)).toEqual(wanted)
  expect(new Set(done)).toEqual(new Set(wanted))
  await clock.advance(3_600_000)
  expect(new Set(done)).toEqual(new Set(wanted))
})

test('while the removal of keys is held, their Secrets stay, whatever the policy', async () => {
  const { clock, done, cluster, keys } = start()
  for (const id of many) keys.set(id, key(id))
  cluster.policies = Object.fromEntries(many.map((id) => [id, 'Delete']))
  await clock.advance(60_000)
  expect(done).toEqual([])
  cluster.annotations = { 'marketdata.fxd.dev/allow-mass-deletion': '20 apikeys' }
  await clock.advance(60_000)
  expect(new Set(done.slice(0, 20))).toEqual(new Set(many.map((id) => `suspend ${id}`)))
  expect(done).toContain('delete k19-digest')
})

test('the Secrets of a key that cannot be suspended stay', async () => {
  const { clock, done, cluster, keys } = start()
  cluster.policies = { a: 'Delete' }
  cluster.apikeys = ['b']
  keys.set('a', { ...key('a'), owner: '' })
  await clock.advance(120_000)
  expect(done).toEqual([])
})

const many = Array.from({ length: 20 }, (_, i) => `k${i}`)

test('deleting ApiKeys one by one suspends no more keys than the mass-deletion limit', async () => {
  const { clock, done, cluster, keys, sweep } = start()
  for (const id of many) keys.set(id, key(id))
  cluster.apikeys = ['a', 'b', ...many]
  await clock.advance(60_000)
  for (const id of many) {
    cluster.apikeys = cluster.apikeys.filter((each) => each !== id)
    sweep.soon()
    await clock.advance(3_000)
  }
  await clock.advance(120_000)
  expect(done.length).toBeLessThanOrEqual(5)
  expect(sweep.held('apikeys')).toBe(20 - done.length)
})

test('a replica that no longer leads reports nothing as held', async () => {
  const { clock, cluster, keys, sweep } = start()
  for (const id of many) keys.set(id, key(id))
  await clock.advance(60_000)
  expect(sweep.held('apikeys')).toBe(20)
  cluster.isLeader = false
  await clock.advance(60_000)
  expect(sweep.held('apikeys')).toBe(0)
})

test('an object that the API server lists but the cache lacks loses nothing', async () => {
  const { clock, done, cluster } = start()
  cluster.listed = [
    { metadata: { name: 'a' }, spec: { broker: 'BROKERA', account: 'A' } },
    { metadata: { name: 'b' }, spec: { broker: 'BROKERA', account: 'B' } },
  ]
  Object.assign(cluster, { accounts: ['A'], apikeys: ['b'] })
  await clock.advance(900_000)
  expect(done).toEqual([])
})

test('after a failure the other permitted removals are completed, and the permission is used up', async () => {
  const { clock, done, cluster, keys } = start()
  const name = 'marketdata.fxd.dev/allow-mass-deletion'
  for (const id of many) keys.set(id, key(id))
  cluster.annotations = { [name]: '20 apikeys' }
  cluster.failsAt = 'k7'
  await clock.advance(120_000)
  expect(done).toEqual(many.map((id) => `suspend ${id}`))
  expect(cluster.annotations).toEqual({})
})

test('a permission ends when no removal is held, so it allows no later deletion', async () => {
  const { clock, done, cluster, keys } = start()
  const name = 'marketdata.fxd.dev/allow-mass-deletion'
  for (const id of many) keys.set(id, key(id))
  await clock.advance(60_000)
  // A person permits them just when the objects are applied again.
  cluster.annotations = { [name]: '20 apikeys' }
  cluster.apikeys = ['a', 'b', ...many]
  await clock.advance(60_000)
  expect(cluster.annotations).toEqual({})
  cluster.apikeys = ['a', 'b']
  await clock.advance(120_000)
  expect(done).toEqual([])
})

test.for([
  ['feeds', ['suspend a']],
  ['keys', ['remove BROKERA:B']],
] as const)('while the %s of the registry cannot be read, the others are removed', async ([list, wanted]) => {
  const { clock, done, cluster } = start()
  Object.assign(cluster, { unreadable: list, accounts: ['A'], apikeys: ['b'] })
  await clock.advance(60_000)
  expect(done).toEqual(wanted)
  expect(cluster.warnings[0]).toBe('registry of ingest unavailable; retrying')
})

test('an outage of ingest ends for the operator within a second, and until then it reads every 15 s', async () => {
  const { clock, cluster, sweep } = start()
  const { read } = cluster
  await clock.advance(30_000)
  cluster.unreadable = 'keys'
  await clock.advance(60_000)
  read.length = 0
  await clock.advance(60_000)
  expect(read.filter((kind) => kind === 'apikeys')).toHaveLength(4)
  read.length = 0
  cluster.unreadable = ''
  await clock.advance(1_000)
  expect(read).toContain('apikeys')
  await sweep.close()
})

test('an outage of the registry is logged once when it begins and once when it ends', async () => {
  const { clock, cluster } = start()
  cluster.unreadable = 'feeds'
  await clock.advance(120_000)
  cluster.unreadable = ''
  await clock.advance(60_000)
  expect(cluster.warnings).toEqual(['registry of ingest unavailable; retrying'])
  expect(cluster.infos).toEqual(['registry of ingest available again'])
})

test('a feed that cannot be removed does not stop the suspension of a key', async () => {
  const { clock, done, cluster } = start()
  Object.assign(cluster, { failsAt: 'BROKERA:B', accounts: ['A'], apikeys: ['b'] })
  await clock.advance(60_000)
  expect(done).toEqual(['suspend a'])
  expect(new Set(cluster.warnings)).toEqual(new Set(['sweep failed; retrying']))
})

test('a leader that loses its Lease during a round logs no failure', async () => {
  const { clock, done, cluster } = start()
  Object.assign(cluster, { failsAt: 'a', failsWith: new NotLeading('not the leader'), apikeys: ['b'] })
  await clock.advance(60_000)
  expect(done).toEqual(['suspend a'])
  expect(cluster.warnings).toEqual([])
})
