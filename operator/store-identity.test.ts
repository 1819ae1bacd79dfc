import { expect, test } from 'vitest'
import type { KubeApi } from './kube/api.ts'
import type { KubeObject } from './kube/object.ts'
import { keepStoreIdentity } from './store-identity.ts'

/** A place whose ConfigMap has this identity, and the objects that are applied. */
function placeWith(identity?: string) {
  const applied: unknown[] = []
  const kept = identity === undefined ? undefined : { metadata: { name: 'm' }, data: { identity } }
  const api = {
    apply: async <T>(_: unknown, object: T): Promise<T> => {
      applied.push(object)
      return object
    },
  } as Pick<KubeApi, 'apply'>
  return { applied, place: { api, caches: { configmaps: { get: (): KubeObject | undefined => kept } } } }
}

test('a new identity is kept in the ConfigMap that ingest mounts; a known one is not written again', async () => {
  const [none, old, same] = [placeWith(), placeWith('old'), placeWith('word')]
  for (const { place } of [none, old, same]) await keepStoreIdentity(place, 'word')
  const kept = expect.objectContaining({ kind: 'ConfigMap', data: { identity: 'word' } }) as unknown
  expect([none.applied, old.applied, same.applied]).toEqual([[kept], [kept], []])
})

test('an ingest that does not say its identity changes nothing', async () => {
  const { applied, place } = placeWith('word')
  await keepStoreIdentity(place, '')
  expect(applied).toEqual([])
})
