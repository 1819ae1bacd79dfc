import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { utcMs } from '../../services/core/clocks/feed-clock.ts'
import { type Delivery, type Digest, type KeyState, planKey } from './plan.ts'

const hash = (secret: string): string => `hash of ${secret}`
const state = (more: Partial<KeyState>): KeyState => ({
  specIssue: 1,
  overlapMs: 1_000,
  ownSecret: undefined,
  delivery: undefined,
  deliveredTo: 'one',
  digest: undefined,
  registryIssue: 0,
  oldSecrets: 0,
  isRefused: false,
  nowMs: utcMs(0),
  ...more,
})
const digest = (more: Partial<Digest> = {}): Digest => ({
  issue: 1,
  specIssue: 1,
  sha256: hash('fxd_0001'),
  prefix: 'fxd_0001',
  oldUntilMs: 0,
  deliveredTo: 'one',
  ...more,
})
const plan = (more: Partial<KeyState>) => planKey(state(more), hash)

describe('a plan for a key', () => {
  test('delivers a secret, stores its digest, then puts it into the registry', () => {
    expect(plan({})).toEqual({ do: 'deliver', issue: 1 })
    const delivery = { issue: 1, secret: 'fxd_0001' }
    expect(plan({ delivery })).toEqual({ do: 'store', digest: digest() })
    expect(plan({ delivery, digest: digest() })).toEqual({ do: 'put', digest: digest() })
  })

  test('with a higher issue makes a new secret; the old one stays valid for the overlap', () => {
    const before = { specIssue: 2, digest: digest(), registryIssue: 1, nowMs: utcMs(500) }
    expect(plan(before)).toEqual({ do: 'deliver', issue: 2 })
    const next = plan({ ...before, delivery: { issue: 2, secret: 'fxd_0002' } })
    expect(next).toMatchObject({ do: 'store', digest: { issue: 2, specIssue: 2, oldUntilMs: 1_500 } })
  })

  test('makes no secret while four old ones are valid, unless the overlap is 0', () => {
    const before = { specIssue: 2, digest: digest(), registryIssue: 1, oldSecrets: 4 }
    expect(plan(before)).toEqual({ do: 'wait' })
    expect(plan({ ...before, overlapMs: 0 })).toEqual({ do: 'deliver', issue: 2 })
    expect(plan({ ...before, oldSecrets: 3 })).toEqual({ do: 'deliver', issue: 2 })
    expect(plan({ ...before, specIssue: 1, ownSecret: 'another' })).toEqual({ do: 'wait' })
  })

  test('with a lower issue than its digest, as of an earlier object, keeps the secret and stores that issue', () => {
    const before = { specIssue: 1, digest: digest({ issue: 3, specIssue: 2 }), registryIssue: 3 }
    const kept = digest({ issue: 3, specIssue: 1 })
    expect(plan(before)).toEqual({ do: 'store', digest: kept })
    expect(plan({ ...before, digest: kept })).toEqual({ do: 'put', digest: kept })
  })

  test('makes a new secret when the secret of an earlier object was delivered to another Secret', () => {
    const elsewhere = (deliveredTo: string) => plan({ digest: digest({ deliveredTo }), registryIssue: 1 })
    expect(elsewhere('another')).toEqual({ do: 'deliver', issue: 2 })
    expect(elsewhere('')).toEqual({ do: 'deliver', issue: 2 })
  })

  test("uses the user's secret, and its replacement when the user changes it", () => {
    expect(plan({ ownSecret: 'fxd_0001' })).toEqual({ do: 'store', digest: digest({ deliveredTo: '' }) })
    expect(plan({ ownSecret: 'fxd_0009', digest: digest(), registryIssue: 1 })).toMatchObject({
      do: 'store',
      digest: { issue: 2, sha256: hash('fxd_0009') },
    })
  })

  test('without a digest uses the delivered secret, but no older one', () => {
    const lost = { registryIssue: 3 }
    expect(plan({ ...lost, delivery: { issue: 3, secret: 'fxd_0003' } })).toMatchObject({
      do: 'store',
      digest: { issue: 3 },
    })
    expect(plan({ ...lost, delivery: { issue: 2, secret: 'fxd_0002' } })).toEqual({ do: 'deliver', issue: 4 })
    expect(plan(lost)).toEqual({ do: 'deliver', issue: 4 })
  })
})

describe('a digest from a backup', () => {
  test('that is older than the registry gets a higher issue and keeps its secret', () => {
    const next = plan({ digest: digest(), registryIssue: 3, nowMs: utcMs(500) })
    expect(next).toEqual({ do: 'store', digest: digest({ issue: 4, oldUntilMs: 1_500 }) })
  })

  test('with another secret than the registry has for its issue gets a higher issue', () => {
    const next = plan({ digest: digest({ issue: 3 }), registryIssue: 3, isRefused: true })
    expect(next).toMatchObject({ do: 'store', digest: { issue: 4, sha256: hash('fxd_0001') } })
  })
})

/** State of a cluster and a registry; each may lose its part. */
interface Cluster {
  delivery: Delivery | undefined
  digest: Digest | undefined
  registry: { issue: number; sha256: string } | undefined
  specIssue: number
  made: number
  isRefused: boolean
}

/** One step of an operator. The registry rejects a lower issue, and an equal one with another digest. */
function step(cluster: Cluster): 'acted' | 'done' | 'refused' {
  const { delivery, digest: kept, registry, specIssue } = cluster
  const { isRefused } = cluster
  const next = plan({ delivery, digest: kept, specIssue, registryIssue: registry?.issue ?? 0, isRefused })
  cluster.isRefused = false
  if (next.do === 'deliver') cluster.delivery = { issue: next.issue, secret: `fxd_${++cluster.made}` }
  else if (next.do === 'store') cluster.digest = next.digest
  else if (next.do === 'put') {
    const { issue, sha256 } = next.digest
    if (registry?.issue === issue && registry.sha256 === sha256) return 'done'
    if (issue === registry?.issue) cluster.isRefused = true
    if (issue <= (registry?.issue ?? 0)) return 'refused'
    cluster.registry = { issue, sha256 }
  }
  return 'acted'
}

test('after any losses and operator crashes the delivered secret is valid in the end, and a rotation replaces it', () => {
  const anyEvent = fc.oneof(
    fc.constant('step' as const),
    fc.constantFrom(
      'rotate',
      'rotate',
      'make the object again',
      'lose delivery',
      'lose digest',
      'restore an older registry',
      'restore older objects',
    ),
  )
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
      const cluster: Cluster = {
        delivery: undefined,
        digest: undefined,
        registry: undefined,
        specIssue: 1,
        made: 0,
        isRefused: false,
      }
      let backup: Cluster['registry']
      let dump = { ...cluster }
      for (const event of events) {
        if (event === 'step') step(cluster)
        else if (event === 'rotate') cluster.specIssue += 1
        else if (event === 'make the object again') cluster.specIssue = 1
        else if (event === 'lose delivery') cluster.delivery = undefined
        else if (event === 'lose digest') cluster.digest = undefined
        else if (event === 'restore an older registry')
          [cluster.registry, backup] = [backup, cluster.registry]
        else {
          const { delivery, digest: kept, specIssue } = dump
          dump = { ...cluster }
          Object.assign(cluster, { delivery, digest: kept, specIssue })
        }
      }
      const finish = () => {
        let steps = 0
        for (let did = step(cluster); did !== 'done'; did = step(cluster)) {
          expect(++steps).toBeLessThan(10)
        }
        return cluster.registry?.sha256
      }
      const before = finish()
      // A user without a delivered secret requests another.
      if (cluster.delivery !== undefined) expect(before).toBe(hash(cluster.delivery.secret))
      cluster.specIssue += 1
      expect(finish()).toBe(hash(cluster.delivery?.secret ?? ''))
      expect(cluster.registry?.sha256).not.toBe(before)
    }),
  )
})
