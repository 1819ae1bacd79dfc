import { expect, test } from 'vitest'
import { rights } from '../../operator/rights.ts'
import { find, part, render } from './render.ts'
import type { Rule } from './rights.ts'

/** One line per verb, such as `apps deployments patch`. */
const lines = (rules: readonly Rule[]): string[] =>
  rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${group} ${resource} ${verb}`)),
      ),
    )
    .toSorted()

test('the Role of the operator has exactly the rights of operator/rights.ts', () => {
  const objects = render()
  const needed = rights.map(({ group, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  }))
  expect(lines(part<readonly Rule[]>(find(objects, 'Role', 'fxd-operator'), 'rules'))).toEqual(lines(needed))
  expect(objects.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([])
})
