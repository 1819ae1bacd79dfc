import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rights } from '../../operator/rights.ts'
import { kinds } from '../kubernetes/api/support/kinds.ts'
import { charts, find, helm, objectsOf, part, render } from './render.ts'
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

test('the roles view, edit and admin of Kubernetes have rights on every kind and on the scale of a pool', () => {
  const { text } = helm('template', 'kinds', join(charts, 'fxd-crds'))
  const roles = objectsOf(text).filter(({ kind }) => kind === 'ClusterRole')
  const label = (role: string): string => `rbac.authorization.k8s.io/aggregate-to-${role}`
  const labels = roles.map(({ metadata: { name, labels: set = {} } }) => [name, Object.keys(set)] as const)
  expect(Object.fromEntries(labels)).toEqual({
    'fxd-view': [label('view')],
    'fxd-edit': [label('edit'), label('admin')],
  })
  const resources = [...kinds().map(({ spec }) => spec.names.plural), 'streampools/scale'].toSorted()
  for (const role of roles)
    expect(part(role, 'rules')).toMatchObject([{ apiGroups: ['marketdata.fxd.dev'], resources }])
})
