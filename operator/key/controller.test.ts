import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { silentLog } from '../../services/platform/log.ts'
import { createVirtualClock } from '../../test/support/virtual-clock.ts'
import type { NotReady } from '../kube/not-ready.ts'
import type { ApiKeyObject, Secret } from '../kube/resources.ts'
import { KeyController } from './controller.ts'

const secretOf = (digit: string) => `fxd_${digit.repeat(32)}`
const base64 = (text: string) => Buffer.from(text).toString('base64')

interface Put {
  readonly id: string
  readonly issue: number
  readonly feeds: readonly string[]
  readonly sha256: Buffer
}

/** One ApiKey, its Secrets and a registry with the feed BROKERA:ZERO. */
function start(spec: object) {
  const key = {
    metadata: { name: 'one', uid: 'u', generation: 1 },
    spec: { plan: 'basic', feeds: ['BROKERA:ZERO'], ...spec },
  } as unknown as ApiKeyObject
  const world = {
    key,
    secrets: new Map<string, Secret>(),
    feeds: new Map([['BROKERA:ZERO', { hidden: false }]]),
    puts: [] as Put[],
    events: [] as string[],
    reasons: [] as string[],
  }
  let version = 0
  const store = async (_: unknown, secret: Secret) => {
    const stored = { ...secret, metadata: { ...secret.metadata, resourceVersion: String(++version) } }
    world.secrets.set(secret.metadata.name, stored)
    return stored
  }
  const keys = new Map<string, object>()
  const deps = {
    api: {
      get: async (_: unknown, name: string) => world.secrets.get(name),
      create: store,
      replace: store,
      applyStatus: async (_: unknown, { status }: { status: { conditions: NotReady[] } }) =>
        void world.reasons.push(status.conditions[0]?.reason ?? ''),
    },
    caches: {
      apikeys: { get: () => world.key, all: () => [world.key] },
      secrets: { get: (name: string) => (name === 'own' ? undefined : world.secrets.get(name)) },
    },
    registry: {
      isLoaded: true,
      feeds: world.feeds,
      keys,
      putKey: async (put: Put) => {
        // A repeat changes nothing.
        if (isDeepStrictEqual(world.puts.at(-1), put)) return
        world.puts.push(put)
        keys.set(put.id, { ...put, version: ++version, state: 'active', prefix: 'fxd_0000' })
      },
    },
    events: { tell: (_: string, __: unknown, { reason }: NotReady) => void world.events.push(reason) },
    clock: createVirtualClock(),
    log: silentLog,
    held: () => 0,
  }
  const controller = new KeyController(deps as never)
  const own = (digit: string) =>
    store(undefined, { metadata: { name: 'own' }, data: { key: base64(secretOf(digit)) } })
  /** Looks until nothing is left to do. */
  const settle = async () => {
    for (let i = 0; i < 4; i++) await controller.reconcile('one')
  }
  return { world, own, settle }
}

test('a Secret of the user that changes after its ApiKey is read again: its key counts', async () => {
  const { world, own, settle } = start({ keyFrom: { secretKeyRef: { name: 'own', key: 'key' } } })
  await own('a')
  await settle()
  const { metadata, spec } = world.key
  world.key = { metadata: { ...metadata, generation: 2 }, spec: { ...spec, issue: 2 } }
  await settle()
  const before = world.puts.at(-1)?.issue ?? 0
  await own('b')
  await settle()
  expect(world.puts.at(-1)?.issue).toBe(before + 1)
  expect(world.puts.at(-1)?.sha256).not.toEqual(world.puts[0]?.sha256)
  expect(world.events).toContain('SecretChanged')
  const { length } = world.puts
  await settle()
  expect(world.puts).toHaveLength(length)
})

test('a key that names a removed feed works with its other feeds, and with that one once it is back', async () => {
  const { world, settle } = start({ feeds: ['BROKERA:ZERO', 'BROKERA:GONE'] })
  await settle()
  expect(world.puts.at(-1)?.feeds).toEqual(['BROKERA:ZERO'])
  expect(world.reasons.at(-1)).toBe('FeedsMissing')
  world.feeds.set('BROKERA:GONE', { hidden: false })
  await settle()
  expect(world.puts.at(-1)?.feeds).toEqual(['BROKERA:ZERO', 'BROKERA:GONE'])
  expect(world.reasons.at(-1)).toBe('Active')
})

test.for([
  ['into the Secret of the digest', { secretName: 'one-digest' }],
  ['that ends at once', { deleteAfter: '0s' }],
] as const)('a delivery %s is refused, and nothing is written', async ([, delivery]) => {
  const { world, settle } = start({ delivery })
  await settle()
  expect(world.reasons.at(-1)).toBe('Invalid')
  expect(world.secrets.size).toBe(0)
})
