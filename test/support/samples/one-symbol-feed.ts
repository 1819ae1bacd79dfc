export const simulated = '{type: Simulator, seed: 1}'
export const pushed = '{type: Push}'

/** The manifest of BROKERA:ZERO on UTC, with minutes of the last day of BTCUSD only. */
export const oneSymbolFeed = (source: typeof simulated | typeof pushed): string => `
apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: {name: brokera-zero}
spec:
  broker: BROKERA
  account: ZERO
  clock: {mode: UTC}
  quoteBasis: Bid
  resolutions: ["1"]
  depth: {"1": 1d}
  symbols: {list: [{raw: BTCUSD, type: crypto, digits: 2}]}
  source: ${source}
`
