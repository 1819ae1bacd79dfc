import { expect, test } from 'vitest'
import { applyOwned } from './apply-owned.ts'
import type { KubeObject } from './object.ts'
import { feedLabel, keyLabel, managedByOperator, resources } from './resources.ts'

const owner = { apiVersion: 'v1', kind: 'Feed', name: 'x', uid: 'u', controller: true }
const wanted: KubeObject = { metadata: { name: 'x-token', labels: { [feedLabel]: 'x', team: 'markets' } } }
const apply = (labels: Readonly<Record<string, string>>) => {
  const found = { metadata: { name: 'x-token', labels } }
  const api = { get: async () => found, apply: async (_: unknown, object: KubeObject) => object }
  return applyOwned({ api: api as never, of: resources.secrets, existing: undefined, owner }, () => wanted)
}

test("an object with the operator's labels and no owner reference is adopted, whatever its other labels are", async () => {
  const given = await apply({ ...managedByOperator, [feedLabel]: 'x', team: 'before' })
  expect(given.metadata.ownerReferences).toEqual([owner])
})

test.for([
  ['of an ApiKey', { ...managedByOperator, [keyLabel]: 'x-token' }],
  [
    'of an ApiKey with the label of the Feed',
    { ...managedByOperator, [keyLabel]: 'x-token', [feedLabel]: 'x' },
  ],
  ['of another Feed', { ...managedByOperator, [feedLabel]: 'y' }],
  ['of a person', { team: 'markets' }],
] as const)('an object %s is not adopted', async ([, labels]) => {
  await expect(apply(labels)).rejects.toMatchObject({ reason: 'NameTaken' })
})
