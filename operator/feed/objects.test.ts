import { expect, test } from 'vitest'
import { parseManifest } from '../../services/core/manifest/manifest.ts'
import type { FeedSpec } from '../kube/kinds.ts'
import type { FeedObject } from '../kube/resources.ts'
import { holderOf } from './holder.ts'
import { collectorSet, manifestMap, manifestOf } from './objects.ts'

const feed = (source: FeedSpec['source'], metadata: object = {}): FeedObject => ({
  metadata: { name: 'zero', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  spec: {
    broker: 'BROKERA',
    account: 'ZERO',
    clock: { mode: 'UTC' },
    quoteBasis: 'Bid',
    resolutions: ['1'],
    source,
    collector: { replicas: 2, storage: { size: '5Gi', className: 'fast' } },
  },
})
const template = { spec: { containers: [{ name: 'collector', image: 'fxd' }, { name: 'beside' }] } }

test('ingest and collectors can read the manifest of an object', () => {
  const csv = feed({ type: 'Mt5Csv', path: 'exports', volumeClaim: 'data' })
  for (const text of [manifestOf(csv), manifestMap(csv).data['feed.yaml'] ?? ''])
    expect(parseManifest(JSON.parse(text))).toMatchObject({
      definition: { key: 'BROKERA:ZERO', name: 'zero' },
    })
})

test('a collector mounts the volume of its source read-only', () => {
  const set = collectorSet(feed({ type: 'Mt5Csv', path: '/exports', volumeClaim: 'data' }), template)
  expect(set).toMatchObject({
    spec: {
      replicas: 2,
      template: {
        spec: {
          containers: [
            {
              volumeMounts: expect.arrayContaining([
                { name: 'source', mountPath: '/var/lib/fxd-source', readOnly: true },
              ]) as unknown,
            },
            { name: 'beside' },
          ],
          volumes: expect.arrayContaining([
            { name: 'source', persistentVolumeClaim: { claimName: 'data', readOnly: true } },
          ]) as unknown,
        },
      },
      volumeClaimTemplates: [
        { spec: { storageClassName: 'fast', resources: { requests: { storage: '5Gi' } } } },
      ],
    },
  })
  const map = manifestMap(feed({ type: 'Mt5Csv', path: '/exports', volumeClaim: 'data' }))
  expect(map.data['feed.yaml']).toContain('"path":"/var/lib/fxd-source/exports"')
})

const spoolOf = (size: string | undefined, env: readonly object[] = []): unknown => {
  const push = feed({ type: 'Mt5Csv', path: 'exports' })
  const sized = {
    ...push,
    spec: { ...push.spec, collector: size === undefined ? {} : { storage: { size } } },
  }
  const set = collectorSet(sized, { spec: { containers: [{ name: 'collector', env }] } })
  const { template: pod } = set.spec as unknown as {
    template: { spec: { containers: [{ env: readonly { name: string; value: string }[] }] } }
  }
  return pod.spec.containers[0].env.filter(({ name }) => name === 'FXD_SPOOL_MIB').map(({ value }) => value)
}

test('the spool is limited to 80 % of its volume, or by FXD_SPOOL_MIB of the template', () => {
  expect(spoolOf(undefined)).toEqual(['819'])
  expect(spoolOf('100Mi')).toEqual(['80'])
  expect(spoolOf('5Gi')).toEqual(['4096'])
  expect(spoolOf('1Mi')).toEqual(['1'])
  expect(spoolOf('999999Ti')).toEqual(['1000000'])
  expect(spoolOf('5Gi', [{ name: 'FXD_SPOOL_MIB', value: '7' }])).toEqual(['7'])
})

test('the claim of a spool has only the labels of a release that never change', () => {
  const stable = {
    'app.kubernetes.io/name': 'fxd',
    'app.kubernetes.io/instance': 'bars',
    'app.kubernetes.io/component': 'collector',
    'app.kubernetes.io/part-of': 'fxd',
  }
  const labels = { ...stable, 'app.kubernetes.io/version': '1', team: 'markets' }
  const set = collectorSet(feed({ type: 'Mt5Csv', path: 'exports' }), { ...template, metadata: { labels } })
  const { volumeClaimTemplates } = set.spec as unknown as {
    volumeClaimTemplates: readonly { metadata: unknown }[]
  }
  expect(volumeClaimTemplates.map(({ metadata }) => metadata)).toEqual([{ name: 'spool', labels: stable }])
})

test('a StatefulSet has labels and annotations of the template file; its selector and claims do not', () => {
  const workloadMetadata = {
    labels: { team: 'markets', 'app.kubernetes.io/managed-by': 'Helm', 'helm.sh/chart': 'fxd-1' },
    annotations: { 'example.org/cost': '7' },
  }
  const set = collectorSet(feed({ type: 'Mt5Csv', path: 'exports' }), { ...template, workloadMetadata })
  expect(set.metadata).toEqual({
    name: 'zero-collector',
    labels: { team: 'markets', 'marketdata.fxd.dev/feed': 'zero' },
    annotations: { 'example.org/cost': '7' },
  })
  expect(JSON.stringify(set.spec)).not.toMatch(/markets|cost/)
  expect(set.spec).toMatchObject({ selector: { matchLabels: { 'marketdata.fxd.dev/feed': 'zero' } } })
})

test('the oldest Feed has the key; of two Feeds with equal creation times always the same one has it', () => {
  const push = { type: 'Push' as const }
  const old = feed(push, { uid: 'b' })
  const young = feed(push, { uid: 'a', creationTimestamp: '2026-01-01T00:00:01Z' })
  const twin = feed(push, { uid: 'c' })
  expect(holderOf('BROKERA:ZERO', [young, old, twin], undefined)).toBe(old)
  expect(holderOf('BROKERA:ZERO', [twin, old], undefined)).toBe(old)
  expect(holderOf('BROKERA:OTHER', [old], 'b')).toBeUndefined()
})

test('of two Feeds of one second the owner in the registry has the key while it exists', () => {
  const push = { type: 'Push' as const }
  const [first, second] = [feed(push, { uid: 'a' }), feed(push, { uid: 'b' })]
  expect(holderOf('BROKERA:ZERO', [first, second], 'b')).toBe(second)
  expect(holderOf('BROKERA:ZERO', [first], 'b')).toBe(first)
})
