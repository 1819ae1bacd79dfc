import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type RoleName, roleVariables } from '../../services/platform/config/role-variables.ts'
import { variables } from '../../services/platform/config/variables.ts'
import { parseConfig } from '../../services/platform/config.ts'
import { connectionsOf } from '../../services/stores/questdb/pg/connection-counts.ts'
import { podOfComponent, podsOf, secretsOf, valueOf, variablesOf } from './pods.ts'
import { examples, find, part, type Rendered, render, type Texts } from './render.ts'
import type { Rule } from './rights.ts'

const any: unknown = expect.anything()

const everything = render({
  values: {
    questdb: { backup: { enabled: true } },
    tls: { mode: 'Secret', secretNames: { ingest: 'ingest-tls', stream: 'stream-tls' } },
    canary: { enabled: true, symbols: ['DEMO:SIM:EURUSD'] },
  },
})

/** Allowed tokens, keys and passwords per pod. No pod that clients can reach has the administration token. */
const mayHold: Readonly<Record<string, readonly string[]>> = {
  rest: ['fxd-questdb-reader/password', 'fxd-redis-rest/password'],
  stream: [
    'fxd-questdb-reader/password',
    'fxd-redis-stream/password',
    'fxd-shard-token/token',
    'stream-tls/tls.crt',
    'stream-tls/tls.key',
  ],
  ingest: [
    'fxd-admin-token/token',
    'fxd-questdb-writer/password',
    'fxd-redis-ingest/password',
    'fxd-signing-keys/keys',
    'ingest-tls/tls.crt',
    'ingest-tls/tls.key',
  ],
  operator: ['fxd-admin-token/token', 'fxd-shard-token/token', 'ingest-tls/ca.crt'],
  // The operator adds the token of its feed.
  collector: ['ingest-tls/ca.crt'],
  // A client key, which the operator delivers.
  canary: ['fxd-canary/key'],
  questdb: ['fxd-questdb-reader/password', 'fxd-questdb-writer/password'],
  redis: ['ingest', 'rest', 'stream'].flatMap((role) => [
    `fxd-redis-${role}/password`,
    `fxd-redis-${role}/previous-password`,
  ]),
  backup: ['fxd-questdb-writer/password'],
  'secrets-make': [],
  'secrets-remove': [],
}

test('each pod has exactly the secrets of the table', () => {
  const held = [...podsOf(everything)].map(([component, pod]) => [component, secretsOf(pod)])
  expect(Object.fromEntries(held)).toEqual(mayHold)
})

test('only the operator and the Jobs for secrets can call the API server', () => {
  const reaching = [...podsOf(everything)].filter(([, { spec }]) => spec.automountServiceAccountToken)
  expect(reaching.map(([component]) => component).toSorted()).toEqual([
    'operator',
    'secrets-make',
    'secrets-remove',
  ])
})

test('the Job that creates secrets may only create; the Job that removes may delete only its own and the collectors, and see ingest', () => {
  expect(part(find(everything, 'Role', 'fxd-secrets-make'), 'rules')).toEqual([
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  ])
  const [sets, configs, ingest, rule] = part<readonly Rule[]>(
    find(everything, 'Role', 'fxd-secrets-remove'),
    'rules',
  )
  for (const each of [sets, configs]) expect(each?.verbs).toEqual(['deletecollection'])
  expect([sets?.resources, configs?.resources]).toEqual([['statefulsets'], ['configmaps']])
  expect(ingest).toEqual({
    apiGroups: ['apps'],
    resources: ['deployments'],
    verbs: ['get'],
    resourceNames: ['fxd-ingest'],
  })
  expect(rule?.verbs).toEqual(['get', 'delete'])
  expect(rule?.resourceNames).toEqual([
    'fxd-admin-token',
    'fxd-questdb-reader',
    'fxd-questdb-writer',
    'fxd-redis-ingest',
    'fxd-redis-rest',
    'fxd-redis-stream',
    'fxd-shard-token',
    'fxd-signing-keys',
  ])
})

describe('extraEnv', () => {
  const extraEnv = [
    { name: 'MY_SECRET', value: 'first' },
    { name: 'MY_SECRET', value: 'mine' },
    // The chart sets these: in every role, in all users of stores, in QuestDB, in its backup, in the Job.
    { name: 'FXD_LOG_LEVEL', value: 'debug' },
    { name: 'REDIS_PASSWORD', value: 'other' },
    { name: 'QDB_PG_PASSWORD', value: '$(MY_SECRET)' },
    { name: 'KEEP', value: '2' },
    { name: 'RELEASE', value: 'other' },
    { name: 'REDIS_COPY', value: '$(FXD_REDIS)' },
  ]
  const pods = podsOf(
    render({
      values: {
        ...Object.fromEntries(
          ['rest', 'stream', 'ingest', 'operator', 'collector', 'redis'].map((each) => [each, { extraEnv }]),
        ),
        canary: { enabled: true, symbols: ['DEMO:SIM:EURUSD'], extraEnv },
        questdb: { extraEnv, backup: { enabled: true, extraEnv } },
        secrets: { job: { extraEnv } },
      },
    }),
  )

  test.for([...pods.keys()])(
    'replaces the entries of %s with the same name, and the last one counts',
    (name) => {
      const env = pods.get(name)?.spec.containers[0]?.env ?? []
      const names = env.map((each) => each.name)
      expect(names.length).toBe(new Set(names).size)
      for (const { name: each, value } of extraEnv.slice(1))
        expect(env.filter((entry) => entry.name === each)).toEqual([{ name: each, value }])
    },
  )

  test('a new entry may refer to any of the chart, and those of the chart to one that is replaced', () => {
    const at = (component: string, name: string): number =>
      (pods.get(component)?.spec.containers[0]?.env ?? []).findIndex((each) => each.name === name)
    expect(at('questdb', 'QDB_PG_PASSWORD')).toBeGreaterThan(at('questdb', 'MY_SECRET'))
    for (const role of ['rest', 'stream', 'ingest'])
      expect(at(role, 'REDIS_COPY')).toBeGreaterThan(at(role, 'FXD_REDIS'))
    for (const role of ['rest', 'stream', 'ingest'])
      expect(at(role, 'FXD_REDIS')).toBeGreaterThan(at(role, 'REDIS_PASSWORD'))
  })
})

test('no Job makes secrets when the values name all of them', () => {
  const [production = ''] = examples
  const jobs = render({ file: production }).filter(({ kind }) => kind === 'Job')
  expect(jobs.map(({ metadata }) => metadata.name)).toEqual(['fxd-secrets-remove'])
})

describe.for(examples.map((file) => [basename(file), file] as const))('%s', ([, file]) => {
  test('every pod meets Pod Security restricted, has limits and gets no variables of Services', () => {
    for (const [component, { spec }] of podsOf(render({ file }))) {
      expect(spec.enableServiceLinks, component).toBe(false)
      expect(spec.securityContext, component).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(spec).not.toHaveProperty('hostNetwork')
      for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
        expect(container.securityContext, component).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources, component).toMatchObject({
          requests: { cpu: any, memory: any },
          limits: { memory: any },
        })
      }
    }
  })

  test('each role gets only variables that it reads, with valid values', () => {
    const pods = podsOf(render({ file }))
    for (const role of Object.keys(roleVariables) as RoleName[]) {
      const pod = pods.get(role)
      if (pod === undefined) {
        expect(role).toBe('canary')
        continue
      }
      const reads = roleVariables[role].map((key) => variables[key].name)
      expect(reads, role).toEqual(expect.arrayContaining([...variablesOf(pod)]))
      const given = variablesOf(pod).map((name) => [name, valueOf(pod, name) ?? 'from-a-secret'] as const)
      expect(() => parseConfig(Object.fromEntries(given), role), role).not.toThrow()
    }
  })
})

test.for(['rest', 'stream', 'ingest', 'operator', 'collector', 'canary'])(
  '%s starts and lives by /livez, and is ready by /readyz',
  (component) => {
    const [container] = podOfComponent(everything, component).spec.containers
    expect(container).toMatchObject({
      ports: expect.arrayContaining([{ name: 'ops', containerPort: 9464 }]) as unknown,
      startupProbe: { httpGet: { path: '/livez', port: 'ops' } },
      livenessProbe: { httpGet: { path: '/livez', port: 'ops' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'ops' } },
    })
  },
)

test.for(['questdb', 'redis'])('%s has probes for start, liveness and readiness', (component) => {
  const [container] = podOfComponent(everything, component).spec.containers
  expect(container).toMatchObject({ startupProbe: any, livenessProbe: any, readinessProbe: any })
})

test.for([
  ['rest', 'pod-template-hash'],
  ['stream', 'pod-template-hash'],
  ['ingest', 'pod-template-hash'],
  ['operator', 'pod-template-hash'],
  ['collector', 'marketdata.fxd.dev/feed'],
] as const)('pods of %s with the same %s are spread over zones and nodes', ([component, label]) => {
  const { metadata, spec } = podOfComponent(everything, component)
  const matchLabels = {
    'app.kubernetes.io/name': 'fxd',
    'app.kubernetes.io/instance': 'fxd',
    'app.kubernetes.io/component': component,
  }
  expect(metadata.labels).toMatchObject(matchLabels)
  const alike = { matchLabelKeys: [label], labelSelector: { matchLabels } }
  expect(spec['topologySpreadConstraints']).toEqual([
    { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', ...alike },
  ])
  expect(spec['affinity']).toEqual({
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, podAffinityTerm: { topologyKey: 'topology.kubernetes.io/zone', ...alike } },
      ],
    },
  })
})

test("a part's own spread replaces that, and its own affinity is added", () => {
  const own = [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }]
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } }
  const rest = { affinity: { nodeAffinity }, topologySpreadConstraints: own }
  const { spec } = podOfComponent(render({ values: { rest } }), 'rest')
  expect(spec['topologySpreadConstraints']).toEqual(own)
  expect(spec['affinity']).toEqual({ nodeAffinity })
  const added = podOfComponent(render({ values: { rest: { affinity: { nodeAffinity } } } }), 'rest')
  expect(added.spec['affinity']).toMatchObject({ nodeAffinity, podAntiAffinity: any })
})

test('the termination grace period is the drain plus 45 s', () => {
  const objects = render({ values: { rest: { drainSeconds: 5 }, stream: { drain: { seconds: 90 } } } })
  expect(podOfComponent(objects, 'rest').spec['terminationGracePeriodSeconds']).toBe(50)
  expect(podOfComponent(objects, 'ingest').spec['terminationGracePeriodSeconds']).toBe(45)
  // The operator adds it to spec.drain.seconds.
  expect(part(find(objects, 'StreamPool', 'fxd-stream'), 'spec.drain.seconds')).toBe(90)
})

describe('the canary', () => {
  const symbols = ['DEMO:SIM:EURUSD', 'DEMO:SIM:BTCUSD', 'OTHER:LIVE:A.B']
  const withCanary = (values: object): readonly Rendered[] =>
    render({ values: { canary: { enabled: true, symbols }, ...values } })
  const urlsOf = (values: object): readonly unknown[] => {
    const pod = podOfComponent(withCanary(values), 'canary')
    return ['FXD_CANARY_REST', 'FXD_CANARY_STREAM'].map((name) => valueOf(pod, name))
  }

  test('it uses the Services without an ingress, else the URLs of clients', () => {
    expect(urlsOf({})).toEqual(['http://fxd-rest:8080', 'ws://fxd-stream:8080'])
    const hosts = ['bars.example.org', 'second.example.org']
    const outside = 'bars.example.org'
    const tls = [{ secretName: 'bars', hosts }]
    expect(urlsOf({ ingress: { enabled: true, hosts, tls } })).toEqual([
      `https://${outside}`,
      `wss://${outside}`,
    ])
  })

  test('its key is never sent in clear text: without TLS of the ingress its URLs are required', () => {
    const ask = 'set canary.restUrl and canary.streamUrl'
    expect(() => urlsOf({ ingress: { enabled: true, hosts: ['bars.example.org'] } })).toThrow(ask)
    const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['bars.example.org'] }
    expect(() => urlsOf({ httpRoute })).toThrow(ask)
  })

  test('it can reach only rest and shards, unless it uses outside URLs', () => {
    const egressOf = (values: object): unknown =>
      part(find(withCanary(values), 'NetworkPolicy', 'fxd-from-canary'), 'spec.egress')
    expect(JSON.stringify(egressOf({}))).toMatch(/rest.*stream.*8080/)
    const tls = [{ secretName: 'bars', hosts: ['bars.example.org'] }]
    expect(egressOf({ ingress: { enabled: true, hosts: ['bars.example.org'], tls } })).toEqual([
      { ports: [{ protocol: 'TCP' }] },
    ])
  })

  test('its ApiKey grants only the feeds, requests, sockets and symbols that it needs', () => {
    const key = find(withCanary({}), 'ApiKey', 'fxd-canary')
    const { feeds, plan, limits } = part<{ feeds: unknown; plan: string; limits: Record<string, number> }>(
      key,
      'spec',
    )
    expect([feeds, plan]).toEqual([['DEMO:SIM', 'OTHER:LIVE'], 'enterprise'])
    // Each minute the status and the history of each symbol.
    const eachMinute = symbols.length + 1
    expect(limits).toEqual({
      rpm: 4 * eachMinute,
      rpd: 2 * eachMinute * 24 * 60,
      wsConnections: 3,
      wsSymbols: symbols.length,
    })
  })

  test('it is rendered only when enabled, and it requires symbols', () => {
    expect(podsOf(render()).has('canary')).toBe(false)
    expect(render().some(({ kind }) => kind === 'ApiKey')).toBe(false)
    expect(() => render({ values: { canary: { enabled: true } } })).toThrow('/canary/symbols')
    const many = Array.from({ length: 21 }, (_, i) => `DEMO:SIM:S${i}`)
    expect(() => render({ values: { canary: { symbols: many } } })).toThrow('/canary/symbols')
    expect(() => render({ values: { canary: { symbols: ['EURUSD'] } } })).toThrow('/canary/symbols')
  })

  test('a settling time above 600 s is rejected: its alert would fire between two comparisons', () => {
    expect(() => render({ values: { canary: { settleSeconds: 601 } } })).toThrow('/canary/settleSeconds')
    expect(() => render({ values: { canary: { settleSeconds: 600 } } })).not.toThrow()
  })
})

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
