import { expect, test } from 'vitest'
import { podOfComponent } from './pods.ts'
import { find, render } from './render.ts'

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

test('a label of a part or its pods overrides the common one of that name', () => {
  const { labels } = find(objects, 'StreamPool', 'fxd-stream').metadata
  expect(labels).toMatchObject({ team: 'markets', tier: 'stream' })
  const pod = podOfComponent(objects, 'stream').metadata
  expect(pod.labels).toMatchObject({ team: 'markets', tier: 'stream-pod' })
})
