/** A Feed manifest with a simulated symbol, as an additional document of a YAML file. */
export const simulatedFeed = `---
apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: { name: brokerb-live }
spec:
  broker: BROKERB
  account: LIVE
  clock: { mode: UTC }
  quoteBasis: Bid
  resolutions: ["1"]
  depth: { "1": 1d }
  symbols: { list: [{ raw: BTCUSD, type: crypto, digits: 2 }] }
  source: { type: Simulator, seed: 1 }
`
