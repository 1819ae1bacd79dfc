import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { KubeObject } from '../../../operator/kube/object.ts'
import { type PoolObject, resources } from '../../../operator/kube/resources.ts'
import { until } from '../../acceptance/client/until.ts'
import { freePorts } from '../../support/free-ports.ts'
import { crashUntil } from './support/crash-until.ts'
import type { OperatorProcess } from './support/operator-process.ts'
import { openSetting, type Setting } from './support/setting.ts'
import { ShardPods, shardPool } from './support/shard-pods.ts'

const waitMs = 60_000
let setting: Setting
let pods: ShardPods
let operator: OperatorProcess
let port: number
beforeAll(async () => {
  ;[port = 0] = await freePorts(1)
  setting = await openSetting(inject('apiServer'))
  operator = await setting.operator('operator-0')
  await operator.start()
  pods = new ShardPods(setting, port)
})
afterAll(async () => {
  await pods?.close()
  await setting?.close()
})

const spec = (more: object = {}) => ({ ...shardPool(port), ...more })
/** Scales as `kubectl scale` does. */
const scale = (replicas: number): Promise<unknown> =>
  setting.admin.patch(`${setting.path(resources.streampools, 'pool')}/scale`, { spec: { replicas } })
interface Event extends KubeObject {
  readonly type: string
  readonly reason: string
  readonly action: string
  readonly note: string
  readonly regarding: { readonly kind: string }
}
/** Events of the pool. */
const events = async () =>
  (await setting.list<Event>(resources.events)).filter(({ regarding }) => regarding.kind === 'StreamPool')
const status = async () => (await setting.get<PoolObject>(resources.streampools, 'pool'))?.status
const running = (count: number): Promise<unknown> =>
  until(
    `${count} shards`,
    async () => {
      const seen = await status()
      const isThere = pods.names.length === count && seen?.readyReplicas === count
      if (isThere && seen?.drainingReplicas === 0) return true
      throw new Error(JSON.stringify(seen))
    },
    waitMs,
  )

test('a pool gets a Deployment, a Service and a budget, and a status for autoscalers', async () => {
  await setting.applyPool('pool', spec())
  await running(2)
  await setting.reason(resources.streampools, 'pool', 'Serving')
  // The operator writes an Event after the status that it is about.
  await expect
    .poll(async () => (await events()).map(({ type, reason }) => `${type} ${reason}`))
    .toContain('Normal Serving')
  expect((await events()).filter(({ type }) => type === 'Warning')).toEqual([])
  expect(await status()).toMatchObject({ replicas: 2, selector: 'marketdata.fxd.dev/streampool=pool' })
  interface Deployment extends KubeObject {
    readonly spec: {
      readonly template: {
        readonly spec: {
          readonly terminationGracePeriodSeconds: number
          readonly containers: { env: object[] }[]
        }
      }
    }
  }
  const deployment = await setting.get<Deployment>(resources.deployments, 'pool')
  expect(deployment?.spec.template.spec.terminationGracePeriodSeconds).toBe(65)
  expect(deployment?.spec.template.spec.containers[0]?.env).toContainEqual({
    name: 'FXD_DRAIN_SECONDS',
    value: '20',
  })
  expect(await setting.get(resources.poddisruptionbudgets, 'pool')).toMatchObject({
    spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  })
  expect(await setting.get(resources.services, 'pool')).toMatchObject({ spec: { ports: [{ port: 8080 }] } })
})

test('a shrinking pool drains the shard with the fewest sockets before its pod ends', async () => {
  const [first = '', second = ''] = pods.names
  await pods.connect(first, 1)
  await pods.connect(second, 4)
  await scale(1)
  await running(1)
  expect(pods.names).toEqual([second])
  expect(pods.cutSockets).toBe(0)
  expect(pods.connections(second)).toBe(4)
  const drained = (await events()).find(({ reason, action }) => reason === 'Draining' && action === 'Drain')
  expect(drained?.note).toBe(`The shard ${first} closes its sockets within 20 s and then ends.`)
}, 120_000)

test('a pool that grows while a shard drains keeps that shard', async () => {
  await scale(2)
  await running(2)
  const [, second = ''] = pods.names
  await pods.connect(second, 3)
  const before = pods.names
  // Long enough that the drain still runs at the next reconcile.
  await setting.applyPool('pool', spec({ drain: { seconds: 3_000, maxAtOnce: 1 } }))
  await until(
    'new shards',
    () => !pods.names.some((name) => before.includes(name)) && pods.names.length === 2,
    waitMs,
  )
  const [kept = '', other = ''] = pods.names
  await pods.connect(kept, 2)
  await pods.connect(other, 2)
  await scale(1)
  await until('a shard to drain', async () => (await status())?.drainingReplicas === 1, waitMs)
  await scale(2)
  await running(2)
  expect(pods.names).toEqual([kept, other])
  await setting.reason(resources.streampools, 'pool', 'Serving')
}, 240_000)

test('an operator that is killed after each write and shard call shrinks a pool without ending sockets', async () => {
  const before = pods.names
  await setting.applyPool('pool', spec())
  const areNew = (): boolean => !pods.names.some((name) => before.includes(name)) && pods.names.length === 2
  await until('new shards', areNew, waitMs)
  await setting.reason(resources.streampools, 'pool', 'Serving')
  await operator.kill()
  const [first = '', second = ''] = pods.names
  await pods.connect(first, 3)
  await pods.connect(second, 2)
  await scale(1)
  const cut = pods.cutSockets
  const afterDrainCall = (listener: () => void): void => void (pods.afterDrainCall = listener)
  const { runs, shard } = await crashUntil({ ...setting, operator, afterDrainCall }, async () => {
    const { observedGeneration, replicas } = (await status()) ?? {}
    return pods.names.length === 1 && replicas === 1 && observedGeneration !== undefined
  })
  pods.afterDrainCall = () => undefined
  expect(runs).toBeGreaterThan(2)
  expect(shard).toBe(1)
  expect(pods.names).toEqual([first])
  expect(pods.cutSockets).toBe(cut)
  await operator.start()
  await scale(2)
  await running(2)
}, 240_000)

test('the autoscaler follows the sockets, and stays while paused or while a shard does not answer', async () => {
  const [busy = '', quiet = ''] = pods.names
  const sockets = pods.connections(busy) + pods.connections(quiet)
  await pods.connect(busy, 9 - sockets)
  const autoscale = {
    minReplicas: 2,
    maxReplicas: 3,
    targetConnections: 3,
    targetSubscriptions: 1_000,
    scaleDownAfterSeconds: 0,
  }
  const path = setting.path(resources.streampools, 'pool')
  const paused = (text: string | null): Promise<unknown> =>
    setting.admin.patch(path, { metadata: { annotations: { 'marketdata.fxd.dev/autoscale-paused': text } } })
  const scaled = (reason: string): Promise<unknown> =>
    until(
      `the autoscaler to report ${reason}`,
      async () => {
        const found = (await status())?.conditions?.find(({ type }) => type === 'Autoscaled')
        if (found?.reason === reason) return true
        throw new Error(`${found?.reason}: ${found?.message}`)
      },
      waitMs,
    )
  await paused('true')
  await setting.admin.patch(path, { spec: { autoscale } })
  await scaled('Paused')
  expect(pods.names).toHaveLength(2)
  await paused(null)
  await running(3)
  await scaled('Following')
  const [, , third = ''] = pods.names
  pods.mute(third)
  await scaled('MetricsMissing')
  expect((await setting.get<PoolObject>(resources.streampools, 'pool'))?.spec.replicas).toBe(3)
  const scaledEvent = (await events()).find(({ reason }) => reason === 'Scaled')
  expect(scaledEvent?.note).toBe('Scaled from 2 to 3 shards. The load needs 3 shards.')
  const written = setting.gateway.writes.flatMap(
    ({ path: each }) => /\/streampools\/pool(.*)/.exec(each)?.[1] ?? [],
  )
  expect(new Set(written)).toEqual(new Set(['/status', '/scale']))
}, 240_000)

const shard = { name: 'stream', image: 'fxd:test' }
test.for([
  [
    'two variables of one name',
    {
      containers: [
        {
          ...shard,
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
          ],
        },
      ],
    },
    'duplicate entries',
  ],
  ['text for an affinity', { containers: [shard], affinity: { nodeAffinity: 'x' } }, 'affinity'],
  [
    'a malformed quantity',
    { containers: [{ ...shard, resources: { limits: { memory: 'lots' } } }] },
    'quantities must match',
  ],
] as const)('a pool with %s is not ready, with the message of the API server', async ([, podSpec, said]) => {
  await setting.applyPool('broken', spec({ template: { spec: podSpec } }))
  await setting.reason(resources.streampools, 'broken', 'ApplyRejected')
  const broken = await setting.get<PoolObject>(resources.streampools, 'broken')
  expect(broken?.status?.conditions?.[0]?.message).toContain(said)
})
