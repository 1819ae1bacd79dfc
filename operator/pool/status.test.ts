import { expect, test } from 'vitest'
import { utcMs } from '../../services/core/clocks/feed-clock.ts'
import type { Condition } from '../kube/condition.ts'
import type { PoolObject, Workload } from '../kube/resources.ts'
import { type PoolFacts, poolStatusOf } from './status.ts'

const condition = (status: Condition['status'], reason: string): Condition => ({
  type: 'Ready',
  status,
  reason,
  message: 'As it was.',
  lastTransitionTime: '2026-01-01T00:00:00Z',
})
const pool = (seenGeneration: number, ready: Condition): PoolObject => ({
  metadata: { name: 'pool', generation: 2 },
  spec: { replicas: 2, drain: { seconds: 60, maxAtOnce: 1 }, connectionsMax: 10, template: {} },
  status: { observedGeneration: seenGeneration, conditions: [ready] },
})
const deployment = (status: Workload['status'], replicas = 2): Workload => ({
  metadata: { name: 'pool', generation: 5 },
  spec: { replicas },
  status: { observedGeneration: 5, replicas: 2, updatedReplicas: 2, readyReplicas: 2, ...status },
})
const readinessOf = (more: Partial<PoolFacts>): Condition | undefined => {
  const facts = {
    deployment: deployment({}),
    loads: [],
    unreachable: 0,
    scaling: undefined,
    stores: undefined,
    blocked: undefined,
    nowMs: utcMs(0),
  }
  return poolStatusOf({ ...facts, pool: pool(2, condition('True', 'Serving')), ...more }).conditions?.[0]
}
const readyOf = (more: Partial<PoolFacts>): string => {
  const ready = readinessOf(more)
  return `${ready?.status} ${ready?.reason}`
}

test('a changed pool is not ready before Kubernetes has seen its Deployment', () => {
  const changed = pool(1, condition('True', 'Serving'))
  expect(readyOf({ pool: changed, deployment: deployment({ observedGeneration: 4 }) })).toBe(
    'False RollingOut',
  )
  expect(readyOf({ pool: changed, deployment: undefined })).toBe('False RollingOut')
})

test('a pool with a change of only its number of shards keeps its condition', () => {
  const unseen = deployment({ observedGeneration: 4, replicas: 3, readyReplicas: 3 }, 2)
  expect(readyOf({ deployment: unseen })).toBe('True Serving')
})

test('a pool that shrinks after a rollout says so', () => {
  const rolling = deployment({ updatedReplicas: 1 }, 3)
  expect(readinessOf({ deployment: rolling })?.message).toBe(
    '2 of 2 shards are ready; pods are being replaced. The pool shrinks after that.',
  )
})

test.for([
  ['pods of an older template run', deployment({ updatedReplicas: 1 }), 'False RollingOut'],
  ['old pods have not ended', deployment({ replicas: 3 }), 'False RollingOut'],
  [
    'the Deployment is smaller than wanted',
    deployment({ replicas: 1, updatedReplicas: 1, readyReplicas: 1 }, 1),
    'False ShardsNotReady',
  ],
  ['a shard is not ready', deployment({ readyReplicas: 1 }), 'False ShardsNotReady'],
  [
    'shards close their sockets before they end',
    deployment({ replicas: 3, updatedReplicas: 3, readyReplicas: 3 }, 3),
    'True Draining',
  ],
  [
    'pods cannot be made',
    deployment({ conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }] }),
    'False FailedCreate',
  ],
  ['all is well', deployment({}), 'True Serving'],
] as const)('the condition of a pool is right when %s', ([, seen, wanted]) => {
  expect(readyOf({ deployment: seen })).toBe(wanted)
})

test.for([
  [2, true],
  [3, false],
  [undefined, false],
] as const)('a pool of 3 shards with replicasMax %s names the maximum: %s', ([replicasMax, isNamed]) => {
  const had = pool(2, condition('True', 'Serving'))
  const spec = { ...had.spec, replicas: 3, ...(replicasMax && { replicasMax }) }
  const facts = { loads: [], unreachable: 0, scaling: undefined, stores: undefined, blocked: undefined }
  const { conditions = [] } = poolStatusOf({
    ...facts,
    pool: { ...had, spec },
    deployment: deployment({ readyReplicas: 3 }, 3),
    nowMs: utcMs(0),
  })
  const found = conditions.find(({ type }) => type === 'AboveMaximum')
  expect(found?.status).toBe(isNamed ? 'True' : undefined)
  if (isNamed) expect(found?.message).toContain('scaled to 3 shards, and spec.replicasMax is 2')
  expect(conditions[0]).toMatchObject({ type: 'Ready', status: 'True' })
})

test('a pool that only grows reports missing shards, and no pods that are replaced', () => {
  const had = pool(1, condition('True', 'Serving'))
  const grown = { ...had, spec: { ...had.spec, replicas: 4 } }
  const unseen = deployment({ observedGeneration: 4 }, 4)
  expect(readinessOf({ pool: grown, deployment: unseen })).toMatchObject({
    reason: 'ShardsNotReady',
    message: '2 of 4 shards are ready.',
  })
  const making = deployment({ replicas: 4, updatedReplicas: 4 }, 4)
  expect(readyOf({ pool: grown, deployment: making })).toBe('False ShardsNotReady')
  const replaced = deployment({ replicas: 4, updatedReplicas: 1 }, 4)
  expect(readyOf({ pool: grown, deployment: replaced })).toBe('False RollingOut')
})
