import { expect, test } from 'vitest'
import { covers } from './covers.ts'

const existing = {
  replicas: 2,
  template: {
    labels: { app: 'fxd', injected: 'yes' },
    containers: [
      {
        name: 'fxd',
        image: 'fxd:1',
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
        resources: { requests: { cpu: '500m', memory: '1Gi' } },
        terminationMessagePath: '/dev/termination-log',
      },
      { name: 'injected' },
    ],
  },
}

test('an object with more than the wanted fields covers them', () => {
  expect(covers(existing, { replicas: 2, template: { containers: [{ name: 'fxd', image: 'fxd:1' }] } })).toBe(
    true,
  )
  expect(covers(existing, existing)).toBe(true)
})

test('an object with another value, or without a wanted field, does not cover it', () => {
  for (const wanted of [
    { replicas: 3 },
    { template: { containers: [{ name: 'fxd', image: 'fxd:2' }] } },
    { template: { containers: [{ name: 'fxd', env: [{ name: 'C', value: '3' }] }] } },
    { minReadySeconds: 5 },
    { paused: false },
  ])
    expect(covers(existing, wanted), JSON.stringify(wanted)).toBe(false)
})

test('quantities in different units are equal, and a missing value equals an empty one', () => {
  const wanted = (cpu: unknown, memory: unknown) => ({
    template: { containers: [{ resources: { requests: { cpu, memory } }, volumeMounts: [], security: {} }] },
  })
  expect(covers(existing, wanted('0.5', '1024Mi'))).toBe(true)
  expect(covers(existing, wanted(0.5, '1073741824'))).toBe(true)
  expect(covers(existing, wanted('0.4', '1Gi'))).toBe(false)
  for (let milli = 1; milli < 4_000; milli++)
    expect(covers({ cpu: `${milli}m` }, { cpu: milli / 1_000 }), `${milli}m`).toBe(true)
  expect(covers({ memory: '1e9' }, { memory: 1_000_000_000 })).toBe(true)
  expect(covers(existing, { minReadySeconds: 0, nodeSelector: {}, affinity: null })).toBe(true)
})
