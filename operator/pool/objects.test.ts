import { expect, test } from 'vitest'
import type { PoolObject } from '../kube/resources.ts'
import { shardBudget, shardDeployment, shardService } from './objects.ts'

const template = { metadata: {}, spec: { containers: [{ name: 'stream' }] } }
const pool: PoolObject = {
  metadata: {
    name: 'pool',
    labels: {
      team: 'markets',
      'app.kubernetes.io/component': 'stream',
      'app.kubernetes.io/managed-by': 'Helm',
      'helm.sh/chart': 'fxd-1',
      'marketdata.fxd.dev/streampool': 'other',
    },
    annotations: {
      'example.org/cost': '7',
      'notkubectl.kubernetes.io/kept': 'yes',
      'meta.helm.sh/release-name': 'fxd',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      'marketdata.fxd.dev/autoscale-paused': 'true',
    },
  },
  spec: { replicas: 2, drain: { seconds: 60, maxAtOnce: 1 }, connectionsMax: 100, template },
}

test.for([
  ['Deployment', shardDeployment(pool, 2)],
  ['PodDisruptionBudget', shardBudget(pool)],
  ['Service', shardService(pool)],
] as const)(
  'the %s has the labels and annotations of its pool, its selector and pods have not',
  ([kind, object]) => {
    expect(object).toMatchObject({ kind })
    expect(object.metadata).toEqual({
      name: 'pool',
      labels: {
        team: 'markets',
        'app.kubernetes.io/component': 'stream',
        'marketdata.fxd.dev/streampool': 'pool',
      },
      annotations: { 'example.org/cost': '7', 'notkubectl.kubernetes.io/kept': 'yes' },
    })
    const { spec } = object as unknown as { readonly spec: unknown }
    expect(JSON.stringify(spec)).not.toMatch(/markets|cost/)
  },
)
