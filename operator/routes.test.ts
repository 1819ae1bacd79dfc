import { expect, test } from 'vitest'
import type { Caches } from './kube/caches.ts'
import type { KubeObject } from './kube/object.ts'
import { route } from './routes.ts'

function routed(kind: keyof Caches, object: KubeObject | undefined): readonly string[] {
  const added: string[] = []
  route(kind, object, { add: (of, name) => added.push(`${of}/${name}`), addAll: (of) => added.push(of) })
  return added
}

const owned = (kind: string): KubeObject => ({
  metadata: {
    name: 'part',
    ownerReferences: [{ apiVersion: '', kind, name: 'zero', uid: 'u', controller: true }],
  },
})

test.for<[kind: keyof Caches, owner: string, added: string]>([
  ['services', 'Feed', 'feeds/zero'],
  ['services', 'StreamPool', 'streampools/zero'],
  ['secrets', 'Feed', 'feeds/zero'],
  ['deployments', 'StreamPool', 'streampools/zero'],
])('a change of %s that a %s owns reconciles its owner', ([kind, owner, added]) => {
  expect(routed(kind, owned(owner))).toEqual([added])
})

test('a new list of Services reconciles all pools and feeds', () => {
  expect(routed('services', undefined)).toEqual(['streampools', 'feeds'])
})
