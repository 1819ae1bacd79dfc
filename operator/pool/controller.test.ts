import { status as grpcStatus } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { silentLog } from '../../services/platform/log/log.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { KubeError } from '../kube/api.ts'
import type { Condition } from '../kube/condition.ts'
import type { KubeObject } from '../kube/object.ts'
import { type Pod, type PoolObject, poolLabel, type Workload } from '../kube/resources.ts'
import { PoolController } from './controller.ts'

const pod = (name: string): Pod => ({
  metadata: { name, uid: name, labels: { [poolLabel]: 'pool' } },
  status: { phase: 'Running', podIP: '127.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
})
const waiting = (name: string, phase: string): Pod => ({ ...pod(name), status: { phase } })
const owner = { apiVersion: 'v1', kind: 'StreamPool', name: 'pool', uid: 'u', controller: true }
const load = { connections: 5, subscriptions: 0, draining: false, drainSecondsLeft: 0, forcedCloses: 0 }

/** A pool with two running shards that wants `replicas`. The cache lacks the Deployment. */
function start(
  replicas: number,
  calls: { load: (pod: Pod) => Promise<object | undefined> },
  more: {
    autoscale?: object
    scale?: (version: string | undefined) => Promise<void>
    /** Failure of the next writes of the Deployment. */
    failure?: () => KubeError | undefined
    phase?: string
    /** How long both pods have been ready. */
    readyMsAgo?: number
  } = {},
) {
  const { autoscale, scale, failure, phase, readyMsAgo = 3_600_000 } = more
  let pool = {
    metadata: { name: 'pool', uid: 'u', generation: 2, resourceVersion: '7' },
    spec: { replicas, drain: { seconds: 60, maxAtOnce: 1 }, connectionsMax: 10, template: {}, autoscale },
  } as unknown as PoolObject
  const deployment: Workload = {
    metadata: { name: 'pool', generation: 5, ownerReferences: [owner] },
    spec: { replicas: 2 },
    status: { observedGeneration: 5, replicas: 2, updatedReplicas: 2, readyReplicas: 2 },
  }
  const seen = {
    ready: [] as (Condition | undefined)[],
    drained: [] as string[],
    marked: [] as string[],
    events: [] as string[],
    forced: [] as number[],
  }
  const none = { get: () => undefined }
  const clock = createVirtualClock()
  const since = new Date(clock.utcMs() - readyMsAgo).toISOString()
  const ready = (name: string): Pod => ({
    ...pod(name),
    status: {
      ...pod(name).status,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }],
    },
  })
  const deps = {
    api: {
      get: async ({ plural }: { plural: string }) => (plural === 'deployments' ? deployment : undefined),
      apply: async ({ plural }: { plural: string }, object: Workload) => {
        if (plural === 'pods') seen.marked.push(object.metadata.name)
        const cause = plural === 'deployments' && failure?.()
        if (cause) throw cause
        const isResized = object.spec?.replicas !== deployment.spec?.replicas
        const metadata = { ...deployment.metadata, generation: isResized ? 6 : 5 }
        return plural === 'deployments' ? { ...deployment, metadata, spec: object.spec } : object
      },
      applyStatus: async (_: unknown, { status }: Pick<PoolObject, 'status'>) => {
        seen.ready.push(status?.conditions?.[0])
        pool = { ...pool, status } as PoolObject
      },
      scale: (_: unknown, { metadata }: KubeObject) => scale?.(metadata.resourceVersion),
    },
    registry: { stores: {} },
    caches: {
      streampools: { get: () => pool, all: () => [pool] },
      pods: { all: () => [ready('a'), phase === undefined ? ready('b') : waiting('b', phase)] },
      services: none,
      poddisruptionbudgets: none,
      deployments: { get: () => undefined },
    },
    calls: { drain: async ({ metadata }: Pod) => void seen.drained.push(metadata.name), ...calls },
    events: { record: (_: string, __: unknown, { reason }: Condition) => void seen.events.push(reason) },
    forcedCloses: (count: number) => void seen.forced.push(count),
    clock,
    log: silentLog,
  }
  return { seen, clock, controller: new PoolController(deps as never) }
}

test('a growing pool is not ready before its new shards are', async () => {
  const { seen, controller } = start(4, { load: async () => load })
  await controller.reconcile('pool')
  expect(seen.ready[0]).toMatchObject({ status: 'False' })
  expect(seen.ready[0]?.message).toContain('2 of 4')
})

test('no shard begins to drain while a shard misses answers; a lost shard leaves', async () => {
  const { seen, controller } = start(1, {
    load: async ({ metadata }) => (metadata.name === 'a' ? undefined : load),
  })
  for (let i = 0; i < 2; i++) await controller.reconcile('pool')
  expect(seen).toMatchObject({ drained: [], marked: [] })
  await controller.reconcile('pool')
  expect(seen).toMatchObject({ drained: [], marked: ['a'] })
})

test('a pool with a ready shard that misses three answers is not ready', async () => {
  const { seen, controller } = start(2, {
    load: async ({ metadata }) => (metadata.name === 'a' ? undefined : load),
  })
  for (let i = 0; i < 2; i++) await controller.reconcile('pool')
  expect(seen.ready.at(-1)).toMatchObject({ status: 'True', reason: 'Serving' })
  await controller.reconcile('pool')
  expect(seen.ready.at(-1)).toMatchObject({ status: 'False', reason: 'ShardsUnreachable' })
  expect(seen.ready.at(-1)?.message).toContain('1 of 2 ready shards')
})

test('answers that a shard missed before it was ready do not make its pool unready', async () => {
  const { seen, clock, controller } = start(2, { load: async () => undefined }, { readyMsAgo: 0 })
  for (let i = 0; i < 5; i++) await controller.reconcile('pool')
  expect(seen.ready.at(-1)).toMatchObject({ status: 'True', reason: 'Serving' })
  await clock.advance(61_000)
  await controller.reconcile('pool')
  expect(seen.ready.at(-1)).toMatchObject({ status: 'False', reason: 'ShardsUnreachable' })
})

test("shards that reject the operator's token are not lost, and the pool reports it", async () => {
  const refusal = Object.assign(new Error('refused'), {
    code: grpcStatus.UNAUTHENTICATED,
    details: 'the token is wrong',
  })
  const { seen, controller } = start(1, { load: () => Promise.reject(refusal) })
  for (let i = 0; i < 5; i++) await controller.reconcile('pool')
  expect(seen.marked).toEqual([])
  expect(seen.ready[0]).toMatchObject({ reason: 'TokenRefused', message: 'the token is wrong' })
})

test('sockets that a drain closed around the end of a minute are counted once, with an event', async () => {
  const forced = { a: [0, 7, 7], b: [3, 3, 3] }
  let round = 0
  const { seen, controller } = start(2, {
    load: async ({ metadata }) => ({
      ...load,
      forcedCloses: forced[metadata.name as keyof typeof forced][round],
    }),
  })
  for (; round < 3; round++) await controller.reconcile('pool')
  expect(seen.forced).toEqual([7])
  expect(seen.events.filter((reason) => reason === 'DrainForced')).toHaveLength(1)
})

const autoscale = {
  minReplicas: 1,
  maxReplicas: 4,
  targetConnections: 5,
  targetSubscriptions: 100,
  scaleDownAfterSeconds: 60,
}

test('the autoscaler skips a pool with a concurrent change and retries at the next reconcile', async () => {
  const conflict = new KubeError(409, 'Conflict', 'the object has been modified')
  const versions: (string | undefined)[] = []
  const scale = async (version: string | undefined): Promise<void> => {
    if (versions.push(version) === 1) throw conflict
  }
  // One shard would suffice for the load of both.
  const small = { load: async () => ({ ...load, connections: 2 }) }
  const { seen, clock, controller } = start(2, small, { autoscale, scale })
  await controller.reconcile('pool')
  await clock.advance(60_000)
  await controller.reconcile('pool')
  expect(seen.events).not.toContain('Scaled')
  await controller.reconcile('pool')
  expect(seen.events).toContain('Scaled')
  expect(versions).toEqual(['7', '7'])
})

const duplicate =
  'failed to create typed patch object (bars/pool; apps/v1, Kind=Deployment): ' +
  '.spec.template.spec.containers[name="stream"].env: duplicate entries for key [name="FXD_LOG_LEVEL"]'

test('a pool whose template the API server cannot apply is not ready, with its message, written once', async () => {
  const failure = () => new KubeError(500, '', duplicate)
  const { seen, controller } = start(3, { load: async () => load }, { failure })
  for (let i = 0; i < 3; i++) await controller.reconcile('pool')
  expect(seen.ready).toMatchObject([{ status: 'False', reason: 'ApplyRejected', message: duplicate }])
})

test('a pool whose changes the API server fails for a minute is not ready, written once', async () => {
  let port = 40_000
  const failure = () => new KubeError(500, 'InternalError', `failed calling webhook "w": dial from ${++port}`)
  const { seen, controller } = start(3, { load: async () => load }, { failure })
  await expect(controller.reconcile('pool', 59_999)).rejects.toThrow('webhook')
  expect(seen.ready).toEqual([])
  for (let i = 0; i < 3; i++) await expect(controller.reconcile('pool', 60_000)).rejects.toThrow('webhook')
  expect(seen.ready).toMatchObject([{ status: 'False', reason: 'ApplyFailed' }])
  expect(seen.ready[0]?.message).toContain('failed calling webhook "w"')
})

test.for([
  ['shrinks a pool with a shard that has not started', 'Pending', true],
  ['does not shrink while a shard that runs does not answer', 'Running', false],
] as const)('the autoscaler %s', async ([, phase, acts]) => {
  const scaled: unknown[] = []
  const loads = { load: async ({ metadata }: Pod) => (metadata.name === 'a' ? load : undefined) }
  const scale = async () => void scaled.push('scaled')
  const { seen, clock, controller } = start(2, loads, { autoscale, scale, phase })
  await controller.reconcile('pool')
  await clock.advance(60_000)
  await controller.reconcile('pool')
  expect(scaled).toHaveLength(acts ? 1 : 0)
  expect(seen.events.includes('Scaled')).toBe(acts)
})
