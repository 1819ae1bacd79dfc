import { expect, test } from 'vitest'
import { collectorSet, type PodTemplate } from '../../operator/feed/objects.ts'
import type { FeedObject, PoolObject } from '../../operator/kube/resources.ts'
import { shardBudget, shardDeployment, shardService } from '../../operator/pool/objects.ts'
import { podOfComponent } from './pods.ts'
import { find, part, render, type Texts } from './render.ts'

const common = { labels: { team: 'markets', tier: 'all' }, annotations: { 'example.org/cost': '7' } }
const of = (component: string): object => ({
  labels: { tier: component },
  podLabels: { tier: `${component}-pod` },
  annotations: { 'example.org/part': component },
})
const objects = render({
  values: {
    commonLabels: common.labels,
    commonAnnotations: common.annotations,
    stream: of('stream'),
    collector: of('collector'),
  },
})
const pool = find(objects, 'StreamPool', 'fxd-stream') as unknown as PoolObject
const template = JSON.parse(
  part<Texts>(find(objects, 'ConfigMap', 'fxd-collector-template'), 'data')['template.json'] ?? '',
) as PodTemplate
const feed: FeedObject = {
  metadata: { name: 'demo' },
  spec: {
    broker: 'DEMO',
    account: 'SIM',
    clock: { mode: 'UTC' },
    quoteBasis: 'Bid',
    resolutions: ['1'],
    source: { type: 'Simulator' },
  },
}

test.for([
  ['Deployment of shards', 'stream', shardDeployment(pool, 2)],
  ['PodDisruptionBudget of shards', 'stream', shardBudget(pool)],
  ['Service of shards', 'stream', shardService(pool)],
  ['StatefulSet of a collector', 'collector', collectorSet(feed, template)],
] as const)(
  'common labels and annotations and those of the part reach the %s, which the operator makes',
  ([, component, { metadata }]) => {
    const { labels, annotations } = metadata
    expect(labels).toMatchObject({
      'app.kubernetes.io/instance': 'fxd',
      'app.kubernetes.io/component': component,
      team: 'markets',
      tier: component,
    })
    expect(labels).not.toHaveProperty('app.kubernetes.io/managed-by')
    expect(annotations).toEqual({ 'example.org/cost': '7', 'example.org/part': component })
  },
)

test('a label of a part or its pods overrides the common one of that name', () => {
  expect(pool.metadata.labels).toMatchObject({ team: 'markets', tier: 'stream' })
  const { labels } = podOfComponent(objects, 'stream').metadata
  expect(labels).toMatchObject({ team: 'markets', tier: 'stream-pod' })
})

test('pods have the version as a label, except those of QuestDB and Redis: an upgrade does not restart them', () => {
  const version = (component: string): unknown =>
    podOfComponent(objects, component).metadata.labels?.['app.kubernetes.io/version']
  for (const component of ['rest', 'stream', 'ingest', 'operator', 'collector'])
    expect(version(component), component).toMatch(/^\d/)
  for (const component of ['questdb', 'redis']) expect(version(component), component).toBeUndefined()
})
