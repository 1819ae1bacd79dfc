import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type RoleName, roleVariables } from '../../services/platform/config/role-variables.ts'
import { variables } from '../../services/platform/config/variables.ts'
import { parseConfig } from '../../services/platform/config.ts'
import { podOfComponent, podsOf, secretsOf, valueOf, variablesOf } from './pods.ts'
import { examples, find, part, render } from './render.ts'
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
  rest: ['fxd-chart-keys/keys', 'fxd-questdb-reader/password', 'fxd-redis-rest/password'],
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

test('the Job that creates secrets may only create; the Job that removes may delete only what the release made, and change only the state of objects', () => {
  expect(part(find(everything, 'Role', 'fxd-secrets-make'), 'rules')).toEqual([
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  ])
  const [sets, configs, ingest, pods, objects, states, lease, rule] = part<readonly Rule[]>(
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
  const kinds = ['feeds', 'apikeys', 'streampools']
  const group = ['marketdata.fxd.dev']
  expect(pods).toEqual({ apiGroups: [''], resources: ['pods'], verbs: ['list'] })
  expect(objects).toEqual({ apiGroups: group, resources: kinds, verbs: ['list'] })
  const ofStates = kinds.map((kind) => `${kind}/status`)
  expect(states).toEqual({ apiGroups: group, resources: ofStates, verbs: ['patch'] })
  expect(lease).toMatchObject({ resources: ['leases'], verbs: ['delete'], resourceNames: ['fxd-operator'] })
  expect(rule?.verbs).toEqual(['get', 'delete'])
  expect(rule?.resourceNames).toEqual([
    'fxd-admin-token',
    'fxd-chart-keys',
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

test('Sentinels with TLS are trusted by the CA of the values, also beside servers without TLS', () => {
  const password = { existingSecret: 'redis' }
  const redis = {
    enabled: false,
    users: { rest: password, stream: password, ingest: password },
    tls: { caSecret: 'redis-ca' },
    sentinel: { hosts: ['sentinel:26379'], tls: true },
  }
  const pod = podOfComponent(render({ values: { redis } }), 'rest')
  expect(valueOf(pod, 'FXD_REDIS_SENTINEL_TLS')).toBe('enabled')
  expect(valueOf(pod, 'NODE_EXTRA_CA_CERTS')).toBe('/etc/fxd/redis/ca.crt')
  expect(JSON.stringify(pod.spec.volumes)).toContain('"secretName":"redis-ca"')
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

test.each([true, false])('with fixedIds=%s all pods name their ids, or none does', (fixedIds) => {
  const ids = ['runAsUser', 'runAsGroup', 'fsGroup']
  for (const file of [undefined, ...examples]) {
    const values = { fixedIds, questdb: { backup: { enabled: file === undefined } } }
    const pods = podsOf(render({ ...(file !== undefined && { file }), values }))
    for (const [component, { spec }] of pods) {
      const named = ids.filter((id) => id in spec.securityContext)
      expect([component, named]).toEqual([component, fixedIds ? ids : []])
      const containers = [...spec.containers, ...(spec.initContainers ?? [])]
      expect(containers.flatMap(({ securityContext }) => ids.filter((id) => id in securityContext))).toEqual(
        [],
      )
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true })
    }
  }
})
