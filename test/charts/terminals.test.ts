import { expect, test } from 'vitest'
import { chart, find, helm, part, type Rendered, render, template } from './render.ts'

const terminals = { enabled: true, feeds: ['zero', 'live'], host: 't.example.org' }
const trustedProxies = ['10.0.0.0/8']

const settingsOf = (objects: readonly Rendered[]): unknown => {
  const data = part<Readonly<Record<string, string>>>(
    find(objects, 'ConfigMap', 'fxd-collector-template'),
    'data',
  )
  return (JSON.parse(data['template.json'] ?? '') as { readonly terminals?: unknown }).terminals
}

const env = [
  { name: 'FXD_TERMINAL_ADDR', value: '0.0.0.0:8090' },
  { name: 'FXD_TRUSTED_PROXIES', value: '10.0.0.0/8' },
]

const services = ['zero-collector-0', 'zero-collector-1', 'live-collector-0', 'live-collector-1']

test('without terminals.enabled the operator has no settings for terminals, and nothing is routed', () => {
  const objects = render({ values: { trustedProxies, terminals: { ...terminals, enabled: false } } })
  expect(settingsOf(objects)).toBeUndefined()
  expect(objects.filter(({ metadata }) => metadata.name.includes('terminals'))).toEqual([])
})

test('one Ingress routes a path for each collector of each named feed, and the operator knows the addresses', () => {
  const tls = [{ secretName: 't-tls', hosts: ['t.example.org'] }]
  const objects = render({ values: { trustedProxies, terminals: { ...terminals, tls } } })
  interface Rule {
    readonly host: string
    readonly http: { readonly paths: readonly { path: string; backend: { service: { name: string } } }[] }
  }
  const ingress = find(objects, 'Ingress', 'fxd-terminals')
  const rules = part<readonly Rule[]>(ingress, 'spec.rules')
  expect(rules.map(({ host }) => host)).toEqual(['t.example.org'])
  expect(rules.flatMap(({ http }) => http.paths.map((each) => each.path))).toEqual([
    '/zero/0',
    '/zero/1',
    '/live/0',
    '/live/1',
  ])
  expect(rules.flatMap(({ http }) => http.paths.map(({ backend }) => backend.service.name))).toEqual(services)
  expect(settingsOf(objects)).toEqual({ env, url: 'https://t.example.org', feeds: ['zero', 'live'] })
})

test('with Gateways there is an HTTPRoute for each named feed and no Ingress', () => {
  const parentRefs = [{ name: 'public' }]
  const objects = render({ values: { trustedProxies, terminals: { ...terminals, parentRefs } } })
  interface Rule {
    readonly backendRefs: readonly { name: string }[]
  }
  const rules = ['zero', 'live'].flatMap((feed) =>
    part<readonly Rule[]>(find(objects, 'HTTPRoute', `fxd-terminals-${feed}`), 'spec.rules'),
  )
  expect(rules.flatMap(({ backendRefs }) => backendRefs.map(({ name }) => name))).toEqual(services)
  expect(objects.filter(({ kind }) => kind === 'Ingress')).toEqual([])
})

test('without named feeds the operator has the environment only, and nothing is routed', () => {
  const objects = render({ values: { trustedProxies, terminals: { enabled: true } } })
  expect(settingsOf(objects)).toEqual({ env })
  expect(objects.filter(({ kind }) => kind === 'Ingress')).toEqual([])
})

test('the peers of networkPolicy.clients, and no others, may call the endpoints', () => {
  const from = [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }]
  const policyOf = (clients: readonly object[], values: object = {}): unknown =>
    render({ values: { trustedProxies, terminals, networkPolicy: { clients }, ...values } }).find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'fxd-terminals',
    )?.['spec']
  expect(policyOf(from)).toMatchObject({ ingress: [{ from, ports: [{ port: 8090, protocol: 'TCP' }] }] })
  expect(policyOf([])).toBeUndefined()
  expect(policyOf(from, { terminals: { enabled: false } })).toBeUndefined()
})

test('nginx takes a post of more than 1 MiB, so that the endpoint refuses it with a sentence', () => {
  const objects = render({ values: { trustedProxies, terminals, ingress: { controller: 'nginx' } } })
  expect(find(objects, 'Ingress', 'fxd-terminals').metadata.annotations).toEqual({
    'nginx.ingress.kubernetes.io/proxy-body-size': '2m',
  })
})

test.for([
  [
    'endpoints without trusted proxies',
    { terminals },
    'terminals.enabled needs trustedProxies, the addresses of the ingress controller',
  ],
  [
    'routes without a host',
    { trustedProxies, terminals: { ...terminals, host: '' } },
    'terminals.host is needed with terminals.feeds',
  ],
  [
    'a feed whose name no Service may have',
    { trustedProxies, terminals: { ...terminals, feeds: ['0zero'] } },
    '/terminals/feeds/0',
  ],
] as const)('%s are rejected with the reason', ([, values, reason]) => {
  const { status, said } = template({ values })
  expect(said).toContain(reason)
  expect(status).not.toBe(0)
})

test('the notes name the address, the token and the state of each feed, and warn without TLS', () => {
  const flags = (...set: readonly string[]): readonly string[] => set.flatMap((each) => ['--set', each])
  const notes = (...set: readonly string[]): string => {
    const on = ['terminals.enabled=true', 'terminals.feeds={zero}', 'terminals.host=t.example.org']
    const given = flags('trustedProxies={10.0.0.0/8}', ...on, ...set)
    return helm('install', 'fxd', chart, '--dry-run=client', '-n=bars', ...given).said
  }
  const clear = 'terminals.tls is empty: tokens and bars of terminals cross the network in clear text'
  expect(notes()).toContain(
    'http://t.example.org/zero/0 with the token of: kubectl get secret -n bars zero-terminal',
  )
  expect(notes()).toContain('kubectl get feeds -n bars -o wide')
  expect(notes()).toContain(clear)
  const own = notes('terminals.tls[0].secretName=t-tls', 'terminals.tls[0].hosts={t.example.org}')
  expect(own).toContain('https://t.example.org/zero/0')
  expect(own).toContain('terminals.tls names the Secret t-tls, which does not exist')
  expect(own).not.toContain(clear)
})
