import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { Unavailable } from '../../../services/core/failure.ts'
import { feedKey } from '../../../services/core/feeds/compound-key.ts'
import { createLog, silentLog } from '../../../services/platform/log/log.ts'
import { slotHoldMs } from '../../../services/stores/redis/limits/slots.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { advanceWithinReach, type OpenedRedis, openInTest, timeOfTests } from '../../support/redis/stores.ts'

const feed = feedKey('BROKERA', 'ZERO')
const limits = { rpm: 10, rpd: 100 }
const roles = ['rest', 'stream', 'ingest'] as const
type Role = (typeof roles)[number]

/** The Redis users of the chart, with the name of their role as password. */
const users = readFileSync(new URL('../../../charts/fxd/files/redis-users.acl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('user '))
  .map((line) => line.replace(/<(\w+)>/, '$1'))

let server: RedisServer
beforeAll(async () => {
  server = await startRedis({ settings: users })
})
afterAll(() => server.stop())

const time = timeOfTests()
const openAs = (role: Role, log = silentLog): Promise<OpenedRedis> =>
  openInTest(
    { url: `redis://fxd-${role}:${role}@${server.host}:${server.port}` },
    { prefix: 'fxd:', admits: role === 'rest', time, log },
  )

/** The Redis calls of each role. */
const work: Readonly<Record<Role, (opened: OpenedRedis) => Promise<unknown>>> = {
  async rest({ stores, identity }) {
    await identity.agree()
    await stores.limits.admit('k1', limits, 'status')
    await stores.limits.observe('k1', limits, 'status')
    await stores.limits.usage('k1', 0 as never, 99_999 as never)
    await stores.slots.inUse('k1')
    await stores.board.read([feed])
    await stores.board.ping()
  },
  async stream({ stores, identity }) {
    await identity.agree()
    await advanceWithinReach(stores.slots, time, slotHoldMs)
    await stores.slots.open('k1', 's1', 5)
    await stores.slots.renew([{ keyId: 'k1', sessionId: 's1' }])
    await stores.slots.close('k1', 's1')
    await stores.limits.countRefusedUpgrade('k1')
    await stores.board.read([feed])
  },
  async ingest({ stores, identity }) {
    await identity.agree('word')
    await identity.replace('other')
    const granted = await stores.leases.acquire('lease', 'me')
    await stores.leases.renew('lease', 'me')
    await stores.leases.release('lease', 'me')
    await stores.board.note(feed, { heartbeatAt: utcMs(1) })
    await stores.board.forget(feed)
    await stores.bus.publish({ type: 'registry', version: 1 }, 0)
    await stores.limits.usage('k1', 0 as never, 99_999 as never)
    return granted
  },
}

test.each(roles)('fxd %s can make all its calls as its own Redis user', async (role) => {
  const opened = await openAs(role)
  await expect(work[role](opened)).resolves.not.toThrow()
})

test('fxd rest may delete a key with a wrong type and read that type', async () => {
  const lines: string[] = []
  const { stores } = await openAs('rest', createLog('warn', { write: (line) => void lines.push(line) }))
  const key = `fxd:{k9}:use:${Math.floor(time.utcMs() / 86_400_000)}`
  await server.command(`SET ${key} wrong`)
  for (let i = 0; i < 2; i++) await stores.limits.admit('k9', limits, 'status')
  expect(await server.command(`TYPE ${key}`)).toContain('hash')
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ key, type: 'string', msg: 'a key in Redis had a wrong type and was deleted' }),
  ])
})

test('followers of the bus get the events that ingest publishes', async () => {
  const [ingest, stream] = [await openAs('ingest'), await openAs('stream')]
  const versions: number[] = []
  stream.stores.bus.follow({
    deliver: ({ event }) => void (event.type === 'registry' && versions.push(event.version)),
    lost: () => undefined,
  })
  await expect
    .poll(async () => {
      await ingest.stores.bus.publish({ type: 'registry', version: 7 }, 0)
      return versions.at(-1)
    })
    .toBe(7)
})

test.each([
  [
    'rest',
    'publish on the bus',
    ({ stores }: OpenedRedis) => stores.bus.publish({ type: 'registry', version: 9 }, 0),
  ],
  ['rest', 'take a lease', ({ stores }: OpenedRedis) => stores.leases.acquire('lease', 'me')],
  [
    'stream',
    'write notes of a feed',
    ({ stores }: OpenedRedis) => stores.board.note(feed, { heartbeatAt: utcMs(2) }),
  ],
  ['rest', 'change the identity of the store', ({ identity }: OpenedRedis) => identity.replace('word')],
  ['ingest', 'take a slot', ({ stores }: OpenedRedis) => stores.slots.open('k1', 's2', 5)],
] as const)('fxd %s cannot %s', async (role, _, act) => {
  await expect(act(await openAs(role))).rejects.toBeInstanceOf(Unavailable)
})

test('a user of an earlier fxd, without the key of the identity, is named once in the log with the cure', async () => {
  const old = users.find((line) => line.startsWith('user fxd-ingest '))?.replace(' ~fxd:store', '') ?? ''
  await server.command(`ACL SETUSER ${old.slice('user '.length).replace('fxd-ingest', 'fxd-old')}`)
  const lines: string[] = []
  const { identity } = await openInTest(
    { url: `redis://fxd-old:ingest@${server.host}:${server.port}` },
    {
      prefix: 'fxd:',
      admits: false,
      time,
      log: createLog('warn', { write: (line) => void lines.push(line) }),
    },
  )
  for (let i = 0; i < 2; i++)
    await expect(identity.agree('word')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('add ~fxd:store to the Redis user') as string },
    })
  expect(lines.filter((line) => line.includes('add ~fxd:store to the Redis user'))).toHaveLength(1)
})
