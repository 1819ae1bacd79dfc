import { afterAll, beforeAll, onTestFinished, test } from 'vitest'
import { namespace } from '../installed/installed.ts'
import { startUnderLoad, type UnderLoad } from '../installed/under-load.ts'
import { serveExternalMetrics } from '../monitoring/external-metrics.ts'
import { expectNoViolation } from './expect-nothing-missed.ts'

/** Scaling by load: no bar is missed, sockets are closed only with 1012, and no request fails. */
const startTimeoutMs = 900_000

let loaded: UnderLoad
beforeAll(async () => {
  loaded = await startUnderLoad({ hoursBack: 12 })
}, startTimeoutMs)
afterAll(() => loaded?.stop())

const patchPool = (spec: object): Promise<string> =>
  loaded.kubectl('patch', 'streampool/fxd-stream', '--type=merge', '-p', JSON.stringify({ spec }))

test('the autoscaler of the operator adds shards for more sockets and removes them for fewer', async () => {
  const autoscale = { minReplicas: 2, maxReplicas: 4, targetConnections: 20, scaleDownAfterSeconds: 20 }
  await patchPool({ autoscale })
  await loaded.traffic.join(50)
  await loaded.shards(4)
  await loaded.traffic.leave(50)
  await loaded.shards(2)
  await patchPool({ autoscale: null })
  await expectNoViolation(loaded, 'autoscaler of the operator')
})

test('a HorizontalPodAutoscaler on an external metric scales the pool', async () => {
  const metrics = await serveExternalMetrics(loaded.installed.cluster)
  onTestFinished(() => metrics.close())
  metrics.value = 200
  await loaded.installed.cluster.apply({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'shards', namespace },
    spec: {
      scaleTargetRef: { apiVersion: 'marketdata.fxd.dev/v1alpha1', kind: 'StreamPool', name: 'fxd-stream' },
      minReplicas: 2,
      maxReplicas: 4,
      behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
      metrics: [
        {
          type: 'External',
          external: {
            metric: { name: 'fxd_sockets' },
            target: { type: 'AverageValue', averageValue: '100' },
          },
        },
      ],
    },
  })
  for (const [sockets, shards] of [
    [400, 4],
    [150, 2],
  ] as const) {
    metrics.value = sockets
    await loaded.shards(shards)
  }
  await expectNoViolation(loaded, 'HorizontalPodAutoscaler')
})
