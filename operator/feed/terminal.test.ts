import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { newTerminalToken } from '../../services/platform/credentials/terminal-token.ts'
import type { FeedObject, Secret } from '../kube/resources.ts'
import { collectorSet } from './objects.ts'
import { terminalAddresses, terminalSecret, terminalServices, withEndpoint } from './terminal.ts'

const feedOf = (collector: FeedObject['spec']['collector'] = {}): FeedObject => ({
  metadata: { name: 'zero', namespace: 'bars', uid: 'u' },
  spec: {
    broker: 'BROKERA',
    account: 'ZERO',
    clock: { mode: 'UTC' },
    quoteBasis: 'Bid',
    resolutions: ['1'],
    source: { type: 'Terminal' },
    collector,
  },
})
const token = (letter: string): string => newTerminalToken((bytes) => letter.repeat(2 * bytes))
const [a, b, c] = [token('a'), token('b'), token('c')]

const textOf = ({ data = {} }: Secret, field: string): string =>
  Buffer.from(data[field] ?? '', 'base64').toString()
const tokensOf = (secret: Secret) => [textOf(secret, 'token'), textOf(secret, 'digests')]
const lines = (...tokens: readonly string[]): string =>
  tokens.map((each) => `BROKERA:ZERO ${hash('sha256', each)}\n`).join('')

test('the first Secret has a token and its digest', () => {
  const secret = terminalSecret(feedOf(), undefined, a)
  expect(a).toMatch(/^fxt_[0-9a-f]{32}$/)
  expect(secret.metadata.name).toBe('zero-terminal')
  expect(tokensOf(secret)).toEqual([a, lines(a)])
})

test('a rotation keeps the digest of the last token, and the next one drops it', () => {
  const first = terminalSecret(feedOf(), undefined, a)
  expect(terminalSecret(feedOf({ tokenIssue: 1 }), first, b)).toEqual(first)
  const second = terminalSecret(feedOf({ tokenIssue: 2 }), first, b)
  expect(tokensOf(second)).toEqual([b, lines(b, a)])
  expect(terminalSecret(feedOf({ tokenIssue: 2 }), second, c)).toEqual(second)
  const third = terminalSecret(feedOf({ tokenIssue: 3 }), second, c)
  expect(tokensOf(third)).toEqual([c, lines(c, b)])
})

test('a Feed that was made again with a lower issue keeps the token', () => {
  const made = terminalSecret(feedOf({ tokenIssue: 7 }), undefined, a)
  expect(terminalSecret(feedOf(), made, b)).toEqual(made)
})

test.for<[title: string, fields: Readonly<Record<string, string>>]>([
  ['without a token', { digests: lines(a) }],
  ['with the digest of another token', { token: b, digests: lines(a) }],
  ['with a token of another form', { token: 'mine', digests: lines('mine') }],
])('a Secret %s gets a new token, and no old one is accepted', ([, fields]) => {
  const made = terminalSecret(feedOf(), undefined, a)
  const data = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, btoa(text)]))
  expect(tokensOf(terminalSecret(feedOf(), { ...made, data }, c))).toEqual([c, lines(c)])
})

test('each collector has a Service that selects its pod only', () => {
  const selectors = terminalServices(feedOf()).map(({ metadata, spec }) => [metadata.name, spec.selector])
  const selectorOf = (pod: string): object => ({
    'marketdata.fxd.dev/feed': 'zero',
    'statefulset.kubernetes.io/pod-name': pod,
  })
  expect(selectors).toEqual(['zero-collector-0', 'zero-collector-1'].map((pod) => [pod, selectorOf(pod)]))
})

test('a routed feed has an address for each collector; others have those of their Services', () => {
  const terminals = { env: [], url: 'https://t.example.org', feeds: ['zero'] }
  expect(terminalAddresses(feedOf(), terminals)).toEqual(['https://t.example.org/zero/0'])
  expect(terminalAddresses(feedOf({ replicas: 2 }), terminals)).toEqual([
    'https://t.example.org/zero/0',
    'https://t.example.org/zero/1',
  ])
  const inside = ['http://zero-collector-0.bars.svc:8090']
  expect(terminalAddresses(feedOf(), { ...terminals, feeds: ['other'] })).toEqual(inside)
  expect(terminalAddresses(feedOf(), { env: [] })).toEqual(inside)
})

test('a collector mounts the digests and not the token; entries of extraEnv have priority', () => {
  const mine = { name: 'FXD_TRUSTED_PROXIES', value: '192.0.2.0/24' }
  const address = { name: 'FXD_TERMINAL_ADDR', value: '0.0.0.0:8090' }
  const template = { spec: { containers: [{ name: 'collector', env: [mine] }, { name: 'beside' }] } }
  const env = [address, { name: 'FXD_TRUSTED_PROXIES', value: '10.0.0.0/8' }]
  const set = collectorSet(feedOf(), withEndpoint(feedOf(), template, { env }))
  const { template: pod } = set.spec as unknown as {
    template: {
      spec: { containers: { env: { name: string }[]; volumeMounts: object[] }[]; volumes: object[] }
    }
  }
  const [collector, beside] = pod.spec.containers
  const tokens = { name: 'FXD_TERMINAL_TOKENS', value: '/etc/fxd/terminal/digests' }
  expect(collector?.env.slice(0, 3)).toEqual([mine, address, tokens])
  expect(collector?.volumeMounts).toContainEqual({
    name: 'terminal',
    mountPath: '/etc/fxd/terminal',
    readOnly: true,
  })
  expect(pod.spec.volumes).toContainEqual({
    name: 'terminal',
    secret: { secretName: 'zero-terminal', items: [{ key: 'digests', path: 'digests' }] },
  })
  expect(beside).toEqual({ name: 'beside' })
})
