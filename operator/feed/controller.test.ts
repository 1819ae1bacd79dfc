import { expect, test } from 'vitest'
import { silentLog } from '../../services/platform/log/log.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { KubeError } from '../kube/api.ts'
import type { Condition } from '../kube/condition.ts'
import { NotReady } from '../kube/not-ready.ts'
import type { KubeObject } from '../kube/object.ts'
import type { FeedObject, Secret } from '../kube/resources.ts'
import { FeedController } from './controller.ts'
import { manifestOf } from './objects.ts'
import { tokenExpiry, tokenSecret } from './token.ts'

const dayMs = 86_400_000
const feed = {
  metadata: { name: 'zero', uid: 'u', generation: 2 },
  spec: { broker: 'BROKERA', account: 'ZERO', source: { type: 'Push' } },
} as unknown as FeedObject
const cacheOf = (objects: readonly KubeObject[]) => ({
  all: () => objects,
  get: (wanted: string) => objects.find(({ metadata }) => metadata.name === wanted),
})
const listOf = (rows: readonly [string, object][]) => Object.assign(new Map(rows), { isLoaded: true })

test('the token of a feed is renewed while the registry rejects its new manifest', async () => {
  const clock = createVirtualClock()
  const applied: Secret[] = []
  const old = tokenSecret(feed, { token: 'old', expiresAt: clock.utcMs() + dayMs, signingKey: 'k' })
  const expiresAt = clock.utcMs() + 30 * dayMs
  const deps = {
    api: {
      get: async () => undefined,
      apply: async (_: unknown, object: Secret) => void applied.push(object),
      applyStatus: async () => undefined,
    },
    caches: {
      feeds: cacheOf([feed]),
      secrets: cacheOf([old]),
      configmaps: cacheOf([]),
      statefulsets: cacheOf([]),
      services: cacheOf([]),
    },
    registry: {
      stores: {},
      feeds: listOf([['BROKERA:ZERO', { key: 'BROKERA:ZERO', owner: 'u', hidden: false, version: 1 }]]),
      applyFeed: () => Promise.reject(new NotReady('Invalid', 'the depth is wrong')),
      accepts: () => true,
      issueFeedToken: async () => ({ token: 'new', expiresAt, signingKey: 'k' }),
    },
    events: { record: () => undefined },
    clock,
    log: silentLog,
    held: () => 0,
    template: undefined,
    registered: () => undefined,
  }
  await new FeedController(deps as never).reconcile('zero')
  expect(applied.map((secret) => tokenExpiry(secret, feed))).toEqual([expiresAt])
})

test('while the registry cannot be read, a new feed shows the reason; a ready feed stays ready, later without state, unless a store fails', async () => {
  const ready = {
    observedGeneration: 2,
    state: 'live',
    symbols: 3,
    conditions: [{ type: 'Ready', status: 'True', reason: 'Registered' }],
  }
  const writtenFor = async (status: object | undefined, isOutdated: boolean, stores = {}) => {
    const reason = 'outcomes' in stores ? 'Unavailable' : 'TokenRefused'
    const written: { state?: string; symbols?: number; conditions: NotReady[] }[] = []
    const object = { ...feed, ...(status && { status }) }
    const deps = {
      api: {
        applyStatus: async (_: unknown, given: { status: (typeof written)[number] }) =>
          void written.push(given.status),
      },
      caches: { feeds: cacheOf([object]), secrets: cacheOf([]), statefulsets: cacheOf([]) },
      registry: {
        stores,
        feeds: Object.assign(listOf([]), {
          isLoaded: false,
          isOutdated,
          failure: new NotReady(reason, 'the list of feeds cannot be read'),
        }),
      },
      events: { record: () => undefined },
      clock: createVirtualClock(),
      held: () => 0,
    }
    await new FeedController(deps as never).reconcile('zero')
    return written.map(({ state, symbols, conditions }) => [state, symbols, conditions[0]?.reason])
  }
  expect(await writtenFor(undefined, false)).toEqual([[undefined, undefined, 'TokenRefused']])
  expect(await writtenFor(ready, false)).toEqual([])
  expect(await writtenFor(ready, true)).toEqual([[undefined, 3, 'Registered']])
  const BusAvailable = { status: 'False', reason: 'BusUnavailable', message: 'away' }
  const reasons = await writtenFor(ready, false, { outcomes: { BusAvailable } })
  expect(reasons).toEqual([[undefined, undefined, 'BusUnavailable']])
})

test.for([
  ['can be read', false, 'live'],
  ['was not read for a minute', true, undefined],
] as const)('when the registry %s, the state of a ready feed is %s', async ([, isOutdated, state]) => {
  const written: unknown[] = []
  const clock = createVirtualClock()
  const expiresAt = clock.utcMs() + 30 * dayMs
  const row = { key: 'BROKERA:ZERO', owner: 'u', hidden: false, version: 1, status: 'live', symbolCount: 3 }
  const deps = {
    api: {
      applyStatus: async (_: unknown, { status }: { status: { state?: string; symbols: number } }) =>
        void written.push([status.state, status.symbols]),
    },
    caches: {
      feeds: cacheOf([feed]),
      secrets: cacheOf([tokenSecret(feed, { token: 'token', expiresAt, signingKey: '' })]),
      configmaps: cacheOf([]),
      statefulsets: cacheOf([]),
      services: cacheOf([]),
    },
    registry: {
      stores: {},
      feeds: Object.assign(listOf([['BROKERA:ZERO', row]]), { isOutdated }),
      applyFeed: async () => ({ version: 1 }),
      accepts: () => true,
    },
    events: { record: () => undefined },
    clock,
    held: () => 0,
  }
  await new FeedController(deps as never).reconcile('zero')
  expect(written).toEqual([[state, 3]])
})

/**
 * A controller, and the conditions that it writes. The registry has the feed; its token Secret exists, and its pods do not.
 */
function controllerOf(
  object: FeedObject,
  apply: (of: { plural: string }, wanted: KubeObject) => unknown,
  template: object = {},
  parts: readonly KubeObject[] = [],
) {
  const deleted: string[] = []
  const written: Condition[] = []
  const manifests: string[] = []
  const clock = createVirtualClock()
  const expiresAt = clock.utcMs() + 30 * dayMs
  const deps = {
    api: {
      get: async () => undefined,
      apply: async (of: { plural: string }, wanted: KubeObject) => apply(of, wanted),
      delete: async (of: { plural: string }, name: string) => void deleted.push(`${of.plural}/${name}`),
      applyStatus: async (_: unknown, { status }: { status: { conditions: Condition[] } }) =>
        void written.push(...status.conditions),
    },
    caches: {
      feeds: cacheOf([object]),
      secrets: cacheOf([tokenSecret(feed, { token: 'token', expiresAt, signingKey: '' }), ...parts]),
      configmaps: cacheOf([]),
      statefulsets: cacheOf([]),
      services: cacheOf(parts),
    },
    registry: {
      stores: {},
      feeds: listOf([['BROKERA:ZERO', { key: 'BROKERA:ZERO', owner: 'u', hidden: false, version: 1 }]]),
      applyFeed: async ({ manifestJson }: { manifestJson: string }) => {
        manifests.push(manifestJson)
        return { version: 1 }
      },
      accepts: () => true,
    },
    events: { record: () => undefined },
    clock,
    held: () => 0,
    template: { spec: { containers: [{ name: 'collector' }] }, ...template },
    registered: () => undefined,
  }
  return { controller: new FeedController(deps as never), written, manifests, deleted }
}

test.for([
  ['has a wrong type', 'failed to create typed patch object (/x): expected map', 'ApplyRejected', 0],
  ['has a wrong quantity', 'failed to convert new object (/x) to proper version', 'ApplyRejected', 0],
  ['the API server fails for a minute', 'failed calling webhook "w"', 'ApplyFailed', 60_000],
] as const)(
  'a ready feed whose StatefulSet %s is not ready, with the message',
  async ([, said, reason, failingMs]) => {
    const object = {
      ...feed,
      spec: { ...feed.spec, source: { type: 'Simulator' } },
      status: {
        observedGeneration: 2,
        conditions: [{ type: 'Ready', status: 'True', reason: 'Collecting' }],
      },
    } as unknown as FeedObject
    const { controller, written } = controllerOf(object, ({ plural }, wanted) => {
      if (plural === 'statefulsets') throw new KubeError(500, '', said)
      return wanted
    })
    await controller.reconcile('zero', failingMs).catch(() => undefined)
    expect(written).toMatchObject([{ status: 'False', reason, message: said }])
  },
)

test('an Mt5Csv feed whose claim does not exist names it, and its collector is made', async () => {
  const source = { type: 'Mt5Csv', path: 'exports', volumeClaim: 'data' }
  const object = { ...feed, spec: { ...feed.spec, source } } as unknown as FeedObject
  const made: string[] = []
  const { controller, written } = controllerOf(object, ({ plural }) => made.push(plural))
  await controller.reconcile('zero')
  expect(written).toMatchObject([{ status: 'False', reason: 'VolumeClaimMissing' }])
  expect(written[0]?.message).toContain(
    'The PersistentVolumeClaim data of spec.source.volumeClaim does not exist',
  )
  expect(made).toContain('statefulsets')
})

test.each([
  ['without a volume', { type: 'Mt5Csv', path: 'exports' }, 'volumeClaim is needed'],
  ['whose path contains ..', { type: 'Mt5Csv', path: 'a/../../b', volumeClaim: 'data' }, 'a/../../b'],
])(
  'an Mt5Csv feed %s is registered, gets no collector and is not ready, with the reason',
  async (_, source, message) => {
    const object = { ...feed, spec: { ...feed.spec, source } } as unknown as FeedObject
    const made: string[] = []
    const { controller, written, manifests } = controllerOf(object, ({ plural }) => made.push(plural))
    await controller.reconcile('zero')
    expect(written).toMatchObject([
      {
        status: 'False',
        reason: 'Invalid',
        message: expect.stringContaining(message) as unknown,
      },
    ])
    expect(manifests).toEqual([manifestOf(object)])
    expect(made).toEqual([])
  },
)

const terminalFeed = { ...feed, spec: { ...feed.spec, source: { type: 'Terminal' } } } as FeedObject

test('a Terminal feed gets its token and Services before its collector, and says so when they are disabled', async () => {
  const applied: string[] = []
  const apply = ({ plural }: { plural: string }, wanted: KubeObject): KubeObject => {
    applied.push(`${plural}/${wanted.metadata.name}`)
    return wanted
  }
  const without = controllerOf(terminalFeed, apply)
  await without.controller.reconcile('zero')
  expect(without.written).toMatchObject([{ status: 'False', reason: 'TerminalsDisabled' }])
  expect(applied).toEqual(['configmaps/zero-feed'])
  const { controller, written } = controllerOf(terminalFeed, apply, { terminals: { env: [] } })
  await controller.reconcile('zero')
  expect(applied.slice(1)).toEqual([
    'configmaps/zero-feed',
    'secrets/zero-terminal',
    'services/zero-collector-0',
    'services/zero-collector-1',
    'statefulsets/zero-collector',
  ])
  expect(written).toMatchObject([{ status: 'False', reason: 'CollectorStarting' }])
})

test.for(['Push', 'Simulator'] as const)(
  'a Terminal feed that becomes a %s feed loses its token and Services, and those of others stay',
  async (type) => {
    const object = { ...feed, spec: { ...feed.spec, source: { type } } } as FeedObject
    const partOf = (name: string, uid: string): KubeObject => ({
      metadata: { name, ownerReferences: [{ apiVersion: '', kind: 'Feed', name: '', uid }] },
    })
    const parts = [
      partOf('zero-terminal', 'u'),
      partOf('zero-collector-0', 'u'),
      partOf('zero-collector-1', 'other'),
    ]
    const { controller, deleted } = controllerOf(object, (_, wanted) => wanted, {}, parts)
    await controller.reconcile('zero')
    expect(deleted).toEqual(['secrets/zero-terminal', 'services/zero-collector-0'])
  },
)
