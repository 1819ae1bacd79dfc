import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { Unavailable } from '../../../services/core/failure.ts'
import { feedKey } from '../../../services/core/feeds/compound-key.ts'
import { createLog } from '../../../services/platform/log/log.ts'
import { slotHoldMs } from '../../../services/stores/redis/limits/slots.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { advanceWithinReach, freshPrefix, openInTest, timeOfTests } from '../../support/redis/stores.ts'

const longTimeout = { timeout: 15_000 }
const rates = { rpm: 10, rpd: 100 }
const feed = feedKey('BROKERA', 'ZERO')
const otherFeed = feedKey('BROKERB', 'LIVE')
const day = '20458'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

async function openLogged() {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
  const prefix = freshPrefix()
  const time = timeOfTests()
  const pod = await openInTest(server, { prefix, time, log: createLog('info', { write }) })
  for (const each of [feed, otherFeed]) await pod.stores.bus.publish({ type: 'settled', feed: each }, 1)
  pod.stores.bus.follow({ deliver: () => undefined, lost: () => undefined })
  await advanceWithinReach(pod.stores.slots, time, slotHoldMs)
  return { pod, prefix, time, lines }
}
type Opened = Awaited<ReturnType<typeof openLogged>>

const calls = {
  admit: ({ pod }: Opened) => pod.stores.limits.admit('key', rates, 'history'),
  usage: ({ pod }: Opened) => pod.stores.limits.usage('key', '2026-01-05', '2026-01-05'),
  open: ({ pod }: Opened) => pod.stores.slots.open('key', 'a', 5, '2026-01-05'),
  renew: ({ pod }: Opened) => pod.stores.slots.renew([{ keyId: 'key', sessionId: 'a' }]),
  inUse: ({ pod }: Opened) => pod.stores.slots.inUse('key'),
  lease: ({ pod }: Opened) => pod.stores.leases.acquire('name', 'a'),
  note: ({ pod }: Opened) => pod.stores.board.note(feed, { heartbeatAt: utcMs(1) }),
  publish: ({ pod }: Opened) => pod.stores.bus.publish({ type: 'settled', feed }, 1),
} as const

describe.each([
  ['the counters of a key', `{key}:use:${day}`, ['admit', 'usage']],
  ['the slots of a key', '{key}:slots', ['inUse', 'open', 'renew']],
  ['the days of its sessions', '{key}:sessions', ['open']],
  ['the start of the slots', 'life', ['renew', 'open']],
  ['a lease', 'lease:name', ['lease']],
  ['the liveness of a feed', `board:${feed}`, ['note']],
  ['the events of a feed', `{bus}:lane:${feed}`, ['publish']],
  ['the events of another feed', `{bus}:lane:${otherFeed}`, ['publish']],
  ['the positions of the bus', '{bus}:tops', ['publish']],
  ['the list of feeds of the bus', '{bus}:news', ['publish']],
  ['the pods', 'pods', ['admit']],
] as const)('a text in place of %s', (_, name, affected) => {
  test.each(affected)('is deleted with a warning that names it, and %s works again', async (call) => {
    const opened = await openLogged()
    const { prefix, lines } = opened
    const key = `${prefix}${name}`
    await server.command(`SET other:${name} mine`)
    await server.command(`SET ${key} wrong`)
    await vi.waitFor(async () => {
      await calls[call](opened)
      expect(await server.command(`TYPE ${key}`)).not.toContain('string')
    }, longTimeout)
    const [warning] = lines.filter((line) => JSON.stringify(line).includes(key))
    expect(warning).toMatchObject({ level: 40 })
    expect(JSON.stringify(warning)).toContain('string')
    expect(await server.command(`GET other:${name}`)).toContain('mine')
  })
})

test('a key with a wrong type that a read cannot delete is named in the log with the cure, once a minute', async () => {
  const { pod, prefix, lines } = await openLogged()
  const key = `${prefix}board:${feed}`
  await server.command(`SET ${key} wrong`)
  for (let i = 0; i < 3; i++) await expect(pod.stores.board.read([feed])).rejects.toThrow(Unavailable)
  const warnings = lines.filter((line) => line['key'] === key)
  expect(warnings.map(({ level, msg }) => [level, msg])).toEqual([
    [40, 'a key in Redis has a wrong type; delete it'],
  ])
})
