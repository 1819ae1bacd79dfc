import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type PodTemplate, podOfComponent, podsOf } from './pods.ts'
import { examples, find, part, type Rendered, render, type Texts } from './render.ts'

interface Selector {
  readonly matchLabels?: Texts
  readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[]
}

interface Peer {
  readonly podSelector?: Selector
  readonly namespaceSelector?: object
  readonly ipBlock?: object
}

interface Rule {
  readonly from?: readonly Peer[]
  readonly to?: readonly Peer[]
  readonly ports?: readonly { readonly port?: number; readonly protocol: string }[]
}

interface Policy {
  readonly podSelector: Selector
  readonly policyTypes: readonly string[]
  readonly ingress?: readonly Rule[]
  readonly egress?: readonly Rule[]
}

const everything = render({
  values: { questdb: { backup: { enabled: true } }, canary: { enabled: true, symbols: ['DEMO:SIM:EURUSD'] } },
})

const policiesOf = (objects: readonly Rendered[]): readonly Policy[] =>
  objects.filter(({ kind }) => kind === 'NetworkPolicy').map((each) => part<Policy>(each, 'spec'))

const labelsOf = ({ metadata }: PodTemplate): Texts => metadata.labels

const selects = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Texts): boolean =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
  matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))

/** Whether a rule names the peer. One without labels is not of this release. */
const isNamed = (peers: readonly Peer[] | undefined, labels: Texts | undefined): boolean =>
  peers === undefined ||
  peers.some(({ podSelector, namespaceSelector, ipBlock }) => {
    if (namespaceSelector !== undefined) return true
    if (labels === undefined) return ipBlock !== undefined
    return podSelector !== undefined && selects(podSelector, labels)
  })

const hasPort = ({ ports }: Rule, port: number): boolean =>
  ports === undefined ||
  ports.some((each) => each.protocol === 'TCP' && (each.port === undefined || each.port === port))

interface Connection {
  readonly from: Texts
  /** Absent: not of this release. */
  readonly to: Texts | undefined
  readonly port: number
}

const allowsEgress = (policies: readonly Policy[], { from, to, port }: Connection): boolean =>
  policies
    .filter(({ podSelector }) => selects(podSelector, from))
    .flatMap(({ egress = [] }) => egress)
    .some((rule) => hasPort(rule, port) && isNamed(rule.to, to))

const allowsIngress = (policies: readonly Policy[], { from, to, port }: Connection): boolean =>
  to === undefined ||
  policies
    .filter(({ podSelector }) => selects(podSelector, to))
    .flatMap(({ ingress = [] }) => ingress)
    .some((rule) => hasPort(rule, port) && isNamed(rule.from, from))

/** Labels of the pods behind a Service; the operator makes that of a StreamPool. */
function podsBehind(objects: readonly Rendered[], host: string): Texts | undefined {
  const service = objects.find(
    ({ kind, metadata }) => ['Service', 'StreamPool'].includes(kind) && metadata.name === host,
  )
  if (service?.kind === 'StreamPool') return part<PodTemplate>(service, 'spec.template').metadata.labels
  return service && part<Texts>(service, 'spec.selector')
}

/** Addresses to which a pod connects, from its environment. */
const addressesOf = ({ spec }: PodTemplate): readonly { readonly host: string; readonly port: number }[] =>
  spec.containers
    .flatMap(({ env = [] }) => env)
    .filter(({ name }) => !name.endsWith('_ADDR'))
    .flatMap(({ value = '' }) => [...value.matchAll(/([\w.-]+):(\d{2,5})\b/g)])
    .map(([, host = '', port]) => ({ host, port: Number(port) }))

/** All connections between pods of the service. */
const connections = [
  'backup questdb:9000',
  'canary rest:8080',
  'canary stream:8080',
  'collector ingest:8090',
  'ingest questdb:8812',
  'ingest questdb:9000',
  'ingest redis:6379',
  'operator ingest:8090',
  'operator stream:8090',
  'rest questdb:8812',
  'rest redis:6379',
  'stream questdb:8812',
  'stream redis:6379',
]

test('pods can make exactly the connections of the table', () => {
  const [pods, policies] = [[...podsOf(everything)], policiesOf(everything)]
  const ports = [...new Set(connections.map((each) => Number(each.split(':')[1])))]
  const allowed = pods.flatMap(([from, source]) =>
    pods.flatMap(([to, target]) =>
      ports
        .map((port) => ({ from: labelsOf(source), to: labelsOf(target), port }))
        .filter((each) => allowsEgress(policies, each) && allowsIngress(policies, each))
        .map(({ port }) => `${from} ${to}:${port}`),
    ),
  )
  expect(allowed.toSorted()).toEqual(connections)
})

test('only the operator and the Jobs for secrets can connect to the API server', () => {
  const policies = policiesOf(everything)
  const allowed = [...podsOf(everything)].filter(([, pod]) =>
    allowsEgress(policies, { from: labelsOf(pod), to: undefined, port: 443 }),
  )
  expect(allowed.map(([component]) => component).toSorted()).toEqual([
    'operator',
    'secrets-make',
    'secrets-remove',
  ])
})

test.for([
  ['make', 'pre-install,pre-upgrade'],
  ['remove', 'post-delete'],
])('the policy of the Job secrets-%s exists while the Job runs', ([name, hook]) => {
  const { metadata } = find(everything, 'NetworkPolicy', `fxd-from-secrets-${name}`)
  expect(metadata.annotations).toMatchObject({ 'helm.sh/hook': hook, 'helm.sh/hook-weight': '-10' })
})

test('additional egress rules hold for the Jobs for secrets, too', () => {
  const rule = { to: [{ ipBlock: { cidr: '192.0.2.7/32' } }], ports: [{ port: 7443, protocol: 'TCP' }] }
  const objects = render({ values: { networkPolicy: { extraEgress: [rule] } } })
  for (const name of ['make', 'remove'])
    expect(
      part<readonly unknown[]>(find(objects, 'NetworkPolicy', `fxd-from-secrets-${name}`), 'spec.egress'),
    ).toContainEqual(rule)
})

const rendered = [
  ['everything inside', everything] as const,
  ...examples.map((file) => [basename(file), render({ file })] as const),
].filter(([, objects]) => policiesOf(objects).length > 0)

describe.for(rendered)('%s', ([, objects]) => {
  const policies = policiesOf(objects)
  const pods = [...podsOf(objects)]

  test('the default policy selects every pod, permits DNS and no ingress', () => {
    const [denying, ...more] = policies.filter(({ policyTypes }) => policyTypes.length === 2)
    expect(more).toEqual([])
    expect(denying).not.toHaveProperty('ingress')
    expect(denying?.egress?.[0]).toEqual({
      ports: [
        { port: 53, protocol: 'UDP' },
        { port: 53, protocol: 'TCP' },
      ],
    })
    for (const [component, pod] of pods)
      expect(selects(denying?.podSelector ?? {}, labelsOf(pod)), component).toBe(true)
  })

  test('each address in the environment of a pod is allowed by its egress and by the ingress of the target', () => {
    const found = pods.flatMap(([component, pod]) =>
      addressesOf(pod).map(({ host, port }) => {
        const connection = { from: labelsOf(pod), to: podsBehind(objects, host), port }
        return { name: `${component} ${host}:${port}`, connection }
      }),
    )
    const from = new Set(found.map(({ name }) => name.split(' ')[0]))
    expect([...from]).toEqual(expect.arrayContaining(['rest', 'stream', 'ingest', 'operator', 'collector']))
    const blockedBy = (allows: typeof allowsEgress): readonly string[] =>
      found.filter(({ connection }) => !allows(policies, connection)).map(({ name }) => name)
    expect({ egress: blockedBy(allowsEgress), ingress: blockedBy(allowsIngress) }).toEqual({
      egress: [],
      ingress: [],
    })
  })
})

test('the metrics of each part of fxd can be read from every namespace', () => {
  const policies = policiesOf(everything)
  for (const component of ['rest', 'stream', 'ingest', 'operator', 'collector', 'canary'])
    expect(
      allowsIngress(policies, {
        from: {},
        to: labelsOf(podOfComponent(everything, component)),
        port: 9464,
      }),
      component,
    ).toBe(true)
})
