import { describe, expect, test } from 'vitest'
import { podOfComponent, podsOf, valueOf } from './pods.ts'
import { find, part, type Rendered, render } from './render.ts'

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
