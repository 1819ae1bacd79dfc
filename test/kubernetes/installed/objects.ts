import { join } from 'node:path'
import { parse } from 'yaml'
import { feed, manifest } from '../../faults/support/market.ts'
import { charts, namespace } from './installed.ts'

/** The first Feed and ApiKey of the README. */
export const firstFeed = join(charts, 'fxd/files/first-feed.yaml')

/** A Push feed; the tests are its collectors. */
export const pushFeed = { ...(parse(manifest) as object), metadata: { name: 'brokera-zero', namespace } }

/** A Push feed of a single test. */
export const lateFeed = {
  apiVersion: 'marketdata.fxd.dev/v1alpha1',
  kind: 'Feed',
  metadata: { name: 'brokerb-live', namespace },
  spec: {
    broker: 'BROKERB',
    account: 'LIVE',
    clock: { mode: 'UTC' },
    quoteBasis: 'Bid',
    resolutions: ['1'],
    symbols: { list: [{ raw: 'BTCUSD', type: 'crypto', digits: 2 }] },
    source: { type: 'Push' },
  },
}

/** Values of the chart that change the template of the pods of every role. */
export const replacingAllPods = (mark: string): object =>
  Object.fromEntries(
    ['rest', 'stream', 'ingest', 'operator', 'collector'].map((role) => [
      role,
      { podAnnotations: { 'fxd.test/mark': mark } },
    ]),
  )

export const apiKey = (name: string, spec: object): object => ({
  apiVersion: 'marketdata.fxd.dev/v1alpha1',
  kind: 'ApiKey',
  metadata: { name, namespace },
  spec,
})

/** Limits of an ApiKey that no test reaches. */
export const wideLimits = {
  plan: 'enterprise',
  limits: { rpm: 1_000_000, rpd: 100_000_000, wsConnections: 100, wsSymbols: 100 },
}

export const loadKey = apiKey('load', { ...wideLimits, feeds: [feed] })

/** An ApiKey that a higher `issue` rotates. */
export const workKey = (more: { readonly issue: number; readonly revoked?: boolean }): object =>
  apiKey('work', { plan: 'pro', feeds: ['DEMO:SIM'], overlap: '1h', ...more })

/** An ApiKey that is valid only for clients of this address. */
export const addressKey = (name: string, address: string): object =>
  apiKey(name, { plan: 'basic', feeds: ['DEMO:SIM'], allowIps: [`${address}/32`] })
