import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { helm3Program } from '../kubernetes/cluster/programs.ts'
import {
  chart,
  charts,
  examples,
  find,
  helm,
  helmOf,
  objectsOf,
  part,
  type Rendered,
  render,
  template,
} from './render.ts'

test('helm lint --strict accepts the chart of the kinds', () => {
  const { status, said } = helm('lint', '--strict', join(charts, 'fxd-crds'))
  expect(said).toContain('0 chart(s) failed')
  expect(status).toBe(0)
})

test('helm lint --strict accepts the chart with its defaults', () => {
  expect(helm('lint', '--strict', chart).said).toContain('0 chart(s) failed')
})

describe.for(examples.map((file) => [basename(file), file] as const))('%s', ([, file]) => {
  test('helm lint --strict has no complaint', () => {
    expect(helm('lint', '--strict', chart, '-f', file).said).toContain('0 chart(s) failed')
  })

  test('every object has the namespace, the common labels and a unique name', () => {
    const objects = render({ file })
    expect(objects.length).toBeGreaterThan(15)
    for (const { kind, metadata } of objects) {
      expect(metadata.namespace, `${kind} ${metadata.name}`).toBe('bars')
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/part-of': 'fxd',
        'app.kubernetes.io/instance': 'fxd',
      })
    }
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(names).toEqual([...new Set(names)])
  })

  test('two renderings are equal, so no template makes a secret', () => {
    expect(template({ file }).text).toBe(template({ file }).text)
    expect(render({ file }).filter(({ kind }) => kind === 'Secret')).toEqual([])
  })
})

test.for(examples.map((file) => [basename(file), file] as const))(
  'Helm 3 renders the same objects as Helm 4 with %s',
  ([, file]) => {
    const args = ['template', 'fxd', chart, '--namespace', 'bars', '-f', file]
    const [three, four] = [helmOf(helm3Program(), ...args), helm(...args)]
    expect([three.status, three.said === '']).toEqual([0, false])
    expect(objectsOf(three.text)).toEqual(objectsOf(four.text))
  },
)

test('Helm 3 renders the same kinds as Helm 4', () => {
  const kinds = ['template', 'kinds', join(charts, 'fxd-crds')]
  expect(objectsOf(helmOf(helm3Program(), ...kinds).text)).toEqual(objectsOf(helm(...kinds).text))
})

test('the kinds survive removal of the chart fxd-crds and have a default status and no values', () => {
  const { text } = helm('template', 'kinds', join(charts, 'fxd-crds'))
  const kinds = objectsOf(text).filter(({ kind }) => kind === 'CustomResourceDefinition')
  expect(kinds.map(({ metadata }) => metadata.name).toSorted()).toEqual([
    'apikeys.marketdata.fxd.dev',
    'feeds.marketdata.fxd.dev',
    'streampools.marketdata.fxd.dev',
  ])
  for (const kind of kinds) {
    expect(kind.metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' })
    const status = part(kind, 'spec.versions.0.schema.openAPIV3Schema.properties.status.default')
    expect(status).toMatchObject({ conditions: [{ type: 'Ready', status: 'Unknown' }] })
  }
  expect(helm('template', 'kinds', join(charts, 'fxd-crds'), '--set', 'any=1').said).toContain(
    "additional properties 'any' not allowed",
  )
})

test('names stay within the limits of Kubernetes for a long release name', () => {
  const release = 'a-long-name-of-a-release-for-the-bars-of-all-markets'
  const objects = objectsOf(helm('template', release, chart, '--set', 'questdb.backup.enabled=true').text)
  const longest = (wanted: readonly Rendered[]): number =>
    Math.max(...wanted.map(({ metadata }) => metadata.name.length))
  // Kubernetes adds 11 characters to the names of a CronJob's Jobs, which may have 63.
  expect(longest(objects.filter(({ kind }) => kind === 'CronJob'))).toBeLessThanOrEqual(52)
  // The kind's own rule, which refuses longer ones.
  expect(longest(objects.filter(({ kind }) => kind === 'StreamPool'))).toBeLessThanOrEqual(40)
  expect(longest(objects)).toBeLessThanOrEqual(63)
})

test.for(['1st', 'a.b'])(
  'the release name %s is rejected without fullnameOverride: no Service may have it',
  (release) => {
    expect(helm('template', release, chart).said).toContain('set fullnameOverride: names of Services')
    expect(helm('template', release, chart, '--set', 'fullnameOverride=bars').status).toBe(0)
  },
)

test('names that YAML would read as numbers stay text', () => {
  const { status, text } = helm(
    'template',
    '2026',
    chart,
    '--namespace',
    '2027',
    '--set',
    'fullnameOverride=bars,questdb.backup.enabled=true',
    '--set-string',
    'secrets.adminToken.existingSecret=123,redis.users.rest.existingSecret=124',
  )
  expect(status).toBe(0)
  for (const { kind, metadata } of objectsOf(text)) {
    expect([kind, metadata.namespace]).toEqual([kind, '2027'])
    expect(metadata.labels?.['app.kubernetes.io/instance']).toBe('2026')
  }
  expect(text).not.toMatch(/(instance|namespace|secretName|name): \d+\b/)
})

test('a name is accepted up to the length that its StreamPool may have', () => {
  const pool = (length: number): string =>
    find(
      render({ values: { fullnameOverride: 'a'.repeat(length) } }),
      'StreamPool',
      `${'a'.repeat(length)}-stream`,
    ).metadata.name
  expect(pool(33)).toHaveLength(40)
  expect(() => pool(34)).toThrow('/fullnameOverride')
})

test('the pool has no replicas, because only /scale writes them', () => {
  for (const file of examples) {
    const pools = render({ file }).filter(({ kind }) => kind === 'StreamPool')
    expect(pools).toHaveLength(1)
    expect(pools[0]?.['spec']).not.toHaveProperty('replicas')
  }
})

test('a Deployment that an autoscaler scales has no replicas', () => {
  const scaled = render({ values: { rest: { autoscaling: { enabled: true } } } })
  expect(find(scaled, 'Deployment', 'fxd-rest')['spec']).not.toHaveProperty('replicas')
  expect(find(scaled, 'HorizontalPodAutoscaler', 'fxd-rest')['spec']).toMatchObject({
    minReplicas: 2,
    maxReplicas: 6,
  })
})

test('with the production values only one Ingress requests the certificate from cert-manager', () => {
  const [production = ''] = examples
  const ingresses = render({ file: production }).filter(({ kind }) => kind === 'Ingress')
  const asking = ingresses.filter(({ metadata }) => metadata.annotations?.['cert-manager.io/cluster-issuer'])
  expect(ingresses).toHaveLength(2)
  expect(asking.map(({ metadata }) => metadata.name)).toEqual(['fxd-rest'])
})

test.for([
  ['contour', ['projectcontour.io/response-timeout', 'projectcontour.io/websocket-routes']],
  [
    'nginx',
    ['nginx.ingress.kubernetes.io/proxy-read-timeout', 'nginx.ingress.kubernetes.io/proxy-send-timeout'],
  ],
  // Its timeout of WebSockets can be set in its ConfigMap only.
  ['haproxy', ['haproxy.org/load-balance']],
  ['traefik', []],
] as const)('the Ingress of /v1/stream has only annotations that %s reads there', ([controller, wanted]) => {
  const objects = render({ values: { ingress: { enabled: true, controller } } })
  const annotations = find(objects, 'Ingress', 'fxd-stream').metadata.annotations ?? {}
  expect(Object.keys(annotations).toSorted()).toEqual(wanted)
})

test.for([
  ['contour', ['projectcontour.io/response-timeout']],
  ['nginx', []],
  ['haproxy', []],
  ['traefik', []],
] as const)('the Ingress of REST has no limit of %s for a whole answer', ([controller, wanted]) => {
  const objects = render({ values: { ingress: { enabled: true, controller } } })
  const annotations = find(objects, 'Ingress', 'fxd-rest').metadata.annotations ?? {}
  expect(Object.keys(annotations)).toEqual(wanted)
})

test('no rule of the HTTPRoute has a limit for a whole answer', () => {
  const objects = render({ values: { httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] } } })
  const rules = part<readonly { timeouts: object }[]>(find(objects, 'HTTPRoute', 'fxd'), 'spec.rules')
  expect(rules.map(({ timeouts }) => timeouts)).toEqual(
    Array(2).fill({ request: '0s', backendRequest: '0s' }),
  )
})

test('objects of the Prometheus operator are rendered if the cluster has their kinds', () => {
  const kindsOf = (has: readonly string[]): string[] =>
    render({ has })
      .map(({ kind }) => kind)
      .filter((kind) => kind === 'PodMonitor' || kind === 'PrometheusRule')
  expect(kindsOf([])).toEqual([])
  expect(kindsOf(['monitoring.coreos.com/v1/PodMonitor'])).toEqual(['PodMonitor'])
  expect(kindsOf(['monitoring.coreos.com/v1/PrometheusRule'])).toEqual(['PrometheusRule'])
})

test('the notes show how to make the first feed and key and how to request a bar', () => {
  const { said } = helm('install', 'fxd', chart, '--dry-run=client', '--namespace', 'bars')
  const notes = said.slice(said.indexOf('NOTES:'))
  const feed = readFileSync(join(chart, 'files/first-feed.yaml'), 'utf8')
  for (const line of feed.split('\n')) expect(notes).toContain(line)
  expect(notes).toContain('kubectl apply -n bars -f -')
  expect(notes).toContain('kubectl get secret -n bars first')
  // It trades at weekends too.
  expect(notes).toContain('/v1/history?symbol=DEMO:SIM:BTCUSD')
})

test('the first command of the notes, pasted into a shell, applies a feed and a key', () => {
  const { said } = helm('install', 'fxd', chart, '--dry-run=client', '--namespace', 'bars')
  const pasted = said.slice(said.indexOf('kubectl apply'), said.indexOf('2. Read the key'))
  const folder = mkdtempSync(join(tmpdir(), 'fxd-notes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const script = '#!/bin/sh\nif [ "$1" = apply ]; then cat; else echo "# $*"; fi\n'
  writeFileSync(join(folder, 'kubectl'), script, { mode: 0o755 })
  const { status, stdout, stderr } = spawnSync('sh', ['-eu'], {
    input: pasted,
    encoding: 'utf8',
    env: { PATH: `${folder}:${process.env['PATH']}` },
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(objectsOf(stdout)).toMatchObject([
    { kind: 'Feed', metadata: { name: 'demo' } },
    { kind: 'ApiKey', metadata: { name: 'first' } },
  ])
  expect(stdout).toContain(
    '# wait -n bars --for=condition=Ready feed/demo apikey/first streampool/fxd-stream',
  )
})

test('the notes name Secrets of TLS that do not exist, and pods that need them', () => {
  const notes = (...set: readonly string[]): string =>
    helm('install', 'fxd', chart, '--dry-run=client', ...set.flatMap((each) => ['--set', each])).said
  const tls = ['ingress.tls[0].secretName=bars-tls', 'ingress.tls[0].hosts={bars.example.org}']
  const missing = 'ingress.tls names the Secret bars-tls, which does not exist'
  expect(notes('ingress.enabled=true', ...tls)).toContain(missing)
  expect(notes(...tls)).not.toContain(missing)
  const own = notes('tls.mode=Secret', 'tls.secretNames.ingest=a', 'tls.secretNames.stream=b')
  expect(own).toContain('tls.secretNames.ingest names the Secret a, which does not exist')
  expect(own).toContain('tls.secretNames.stream names the Secret b, which does not exist')
  expect(notes()).not.toContain('does not exist')
})

test('the notes warn when the network policy blocks the load balancer of ingest', () => {
  const warning = 'networkPolicy.collectors is empty'
  const notes = (...set: readonly string[]): string => {
    const flags = ['ingest.service.type=LoadBalancer', ...set].flatMap((each) => ['--set', each])
    return helm('install', 'fxd', chart, '--dry-run=client', ...flags).said
  }
  expect(notes()).toContain(warning)
  expect(notes('networkPolicy.enabled=false')).not.toContain(warning)
  expect(notes('networkPolicy.collectors[0].ipBlock.cidr=192.0.2.0/24')).not.toContain(warning)
  const hidden = 'ingest.service.externalTrafficPolicy is not Local'
  expect(notes()).toContain(hidden)
  expect(notes('networkPolicy.enabled=false')).not.toContain(hidden)
  expect(notes('ingest.service.externalTrafficPolicy=Local')).not.toContain(hidden)
})

test('the notes warn when the network policy blocks clients of a load balancer of rest', () => {
  const warning = 'clients outside of the cluster cannot reach the Service of rest'
  const notes = (...set: readonly string[]): string =>
    helm('install', 'fxd', chart, '--dry-run=client', ...set.flatMap((each) => ['--set', each])).said
  const exposed = 'rest.service.type=LoadBalancer'
  expect(notes(exposed)).toContain(warning)
  expect(notes()).not.toContain(warning)
  expect(notes(exposed, 'networkPolicy.enabled=false')).not.toContain(warning)
  expect(notes(exposed, 'networkPolicy.clients[0].ipBlock.cidr=0.0.0.0/0')).not.toContain(warning)
})

test.for(['rest', 'ingest'])(
  'the Service of %s has the externalTrafficPolicy of the values, by default none',
  (name) => {
    const specOf = (values: object): unknown =>
      part(find(render({ values }), 'Service', `fxd-${name}`), 'spec')
    expect(specOf({})).not.toHaveProperty('externalTrafficPolicy')
    const service = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }
    expect(specOf({ [name]: { service } })).toMatchObject(service)
    // The API server refuses it for a ClusterIP.
    const inside = { [name]: { service: { ...service, type: 'ClusterIP' } } }
    expect(specOf(inside)).not.toHaveProperty('externalTrafficPolicy')
  },
)

test('the README installation makes the feed and key that its last command uses', () => {
  const readme = readFileSync(join(charts, '../README.md'), 'utf8')
  const commands = readme.slice(readme.indexOf('## On Kubernetes')).match(/```sh\n(.*?)```/s)?.[1] ?? ''
  expect(commands).toContain('helm install fxd-crds charts/fxd-crds\nhelm install fxd charts/fxd --wait')
  expect(commands).toContain('kubectl apply -f charts/fxd/files/first-feed.yaml')
  const [, set = ''] = /--set (\S+)/.exec(commands) ?? []
  const objects = objectsOf(helm('template', 'fxd', chart, '--set', set).text)
  const ingress = find(objects, 'Ingress', 'fxd-rest')
  const [, host = ''] = /'http:\/\/([^/]+)\/v1\/history/.exec(commands) ?? []
  expect(part<readonly unknown[]>(ingress, 'spec.rules')).toMatchObject([{ host }])
  const [feed, key] = objectsOf(readFileSync(join(chart, 'files/first-feed.yaml'), 'utf8'))
  const [, symbol] = /symbol=([\w:]+)/.exec(commands) ?? []
  expect(symbol).toBe(
    [
      part<string>(feed as Rendered, 'spec.broker'),
      part<string>(feed as Rendered, 'spec.account'),
      'BTCUSD',
    ].join(':'),
  )
  expect(part(key as Rendered, 'spec.feeds')).toEqual(['DEMO:SIM'])
})

test('the README has the requests of the defaults with one feed', () => {
  interface Pod {
    readonly containers: readonly { readonly resources: { readonly requests: Record<string, string> } }[]
  }
  const objects = render()
  const collector = JSON.parse(
    part<Record<string, string>>(find(objects, 'ConfigMap', 'fxd-collector-template'), 'data')[
      'template.json'
    ] ?? '',
  ) as { readonly spec: Pod }
  const replicasOf = (object: Rendered): number =>
    object.kind === 'StreamPool' ? 2 : part<number>(object, 'spec.replicas')
  const pods = objects
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'StreamPool'].includes(kind))
    .map((object) => [replicasOf(object), part<Pod>(object, 'spec.template.spec')] as const)
  const sum = (name: string, numberOf: (text: string) => number): number =>
    [...pods, [1, collector.spec] as const]
      .map(([count, { containers }]) => count * numberOf(containers[0]?.resources.requests[name] ?? ''))
      .reduce((all, each) => all + each, 0)
  const cpus = sum('cpu', (text) => (text.endsWith('m') ? Number(text.slice(0, -1)) / 1_000 : Number(text)))
  const gib = sum('memory', (text) => Number(text.slice(0, -2)) / (text.endsWith('Gi') ? 1 : 1_024))
  const readme = readFileSync(join(charts, '../README.md'), 'utf8')
  expect(readme).toContain(`${cpus.toFixed(1)} CPUs, ${gib.toFixed(1)} GiB of memory, and 55 GiB of volumes`)
})
