import { expect, test } from 'vitest'
import { connectionsOf } from '../../services/stores/questdb/pg/connection-counts.ts'
import { podOfComponent, valueOf } from './pods.ts'
import { find, part, type Rendered, render, type Texts } from './render.ts'

test('QuestDB allows the connections of all replicas during a rollout, when old and new pods run', () => {
  const limit = (values: object): number =>
    Number(valueOf(podOfComponent(render({ values }), 'questdb'), 'QDB_PG_NET_CONNECTION_LIMIT'))
  const needed = (rest: number, stream: number, ingest: number, spare: number): number =>
    2 * (rest * connectionsOf('rest') + stream * connectionsOf('stream') + ingest * connectionsOf('ingest')) +
    spare
  const stepped = (connections: number): number => Math.ceil(connections / 256) * 256
  expect(limit({})).toBe(stepped(needed(2, 10, 2, 20)))
  expect(
    limit({
      rest: { autoscaling: { enabled: true, maxReplicas: 12 } },
      stream: { replicasMax: 40 },
      questdb: { spareConnections: 0 },
    }),
  ).toBe(stepped(needed(12, 40, 2, 0)))
  const left = 512 - needed(5, 10, 3, 0)
  const larger = { rest: { replicas: 5 }, ingest: { replicas: 3 } }
  expect(limit({ ...larger, questdb: { spareConnections: left } })).toBe(512)
  expect(limit({ ...larger, questdb: { spareConnections: left + 1 } })).toBe(768)
})

test.each([
  ['its replicas', { replicas: 5 }, '5'],
  ['the most of its autoscaler', { replicas: 5, autoscaling: { enabled: true, maxReplicas: 12 } }, '12'],
])('rest knows the number of its pods without Redis: %s', (_, rest, pods) => {
  expect(valueOf(podOfComponent(render({ values: { rest } }), 'rest'), 'FXD_LIMITS_PODS')).toBe(pods)
})

test('one more rest within a step of the limit does not change the pod of QuestDB, so QuestDB does not restart', () => {
  const questdb = (replicas: number): unknown =>
    podOfComponent(render({ values: { rest: { replicas } } }), 'questdb')
  expect(questdb(4)).toEqual(questdb(3))
})

test('the volume of backups fits all copies and the one being written', () => {
  const objects = render({ values: { questdb: { backup: { enabled: true } } } })
  const sizeOf = (object: Rendered, path: string): number =>
    Number(/^(\d+)Gi$/.exec(part<string>(object, `${path}.resources.requests.storage`))?.[1])
  const data = sizeOf(find(objects, 'StatefulSet', 'fxd-questdb'), 'spec.volumeClaimTemplates.0.spec')
  const copies = Number(valueOf(podOfComponent(objects, 'backup'), 'KEEP')) + 1
  expect(sizeOf(find(objects, 'PersistentVolumeClaim', 'fxd-questdb-backup'), 'spec')).toBe(copies * data)
})

test('a backup runs on the node of QuestDB, also with a podAffinity of the values', () => {
  const wanted = { topologyKey: 'example.org/rack', labelSelector: { matchLabels: { fast: 'true' } } }
  const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [wanted] }
  const values = { questdb: { backup: { enabled: true, affinity: { podAffinity } } } }
  const { affinity } = podOfComponent(render({ values }), 'backup').spec
  const questdb = { 'app.kubernetes.io/component': 'questdb' }
  const sameNode = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: questdb } }
  const required = { requiredDuringSchedulingIgnoredDuringExecution: [wanted, sameNode] }
  expect(affinity).toMatchObject({ podAffinity: required })
})

test('both containers of the Redis pod have redis.resources', () => {
  const resources = { requests: { cpu: '150m', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } }
  const { spec } = podOfComponent(render({ values: { redis: { resources } } }), 'redis')
  const given = [...(spec.initContainers ?? []), ...spec.containers].map((each) => each.resources)
  expect(given).toEqual([resources, resources])
})

test('QuestDB and Redis have the settings that prevent data loss', () => {
  const objects = render()
  const questdb = podOfComponent(objects, 'questdb')
  expect(valueOf(questdb, 'QDB_CAIRO_COMMIT_MODE')).toBe('sync')
  expect(Number(valueOf(questdb, 'QDB_SHARED_WORKER_COUNT'))).toBeGreaterThanOrEqual(4)
  expect(part<Texts>(find(objects, 'ConfigMap', 'fxd-redis'), 'data')['redis.conf']).toContain(
    'maxmemory-policy noeviction',
  )
})
