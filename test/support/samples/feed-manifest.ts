/** A Feed manifest; `spec` adds fields and replaces the default ones. As JSON it is valid YAML too. */
export function feedManifest(spec: Readonly<Record<string, unknown>>) {
  const { broker = 'BROKERA', account = 'ZERO' } = spec as { broker?: string; account?: string }
  return {
    apiVersion: 'marketdata.fxd.dev/v1alpha1',
    kind: 'Feed',
    metadata: { name: `${broker}-${account}`.toLowerCase() },
    spec: {
      broker,
      account,
      clock: { mode: 'UTC' },
      quoteBasis: 'Bid',
      resolutions: ['1'],
      source: { type: 'Push' },
      ...spec,
    },
  }
}
