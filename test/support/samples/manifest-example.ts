import { parse } from 'yaml'
import type { FeedDefinition } from '../../../services/core/feeds/feed.ts'
import { parseManifest } from '../../../services/core/manifest/manifest.ts'

/** A complete manifest, the example of the specification. */
const text = `
apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: {name: brokera-zero}
spec:
  broker: BROKERA
  account: ZERO
  description: BrokerA Zero
  clock: {mode: Fixed, offsetSeconds: -10800}
  quoteBasis: Bid
  resolutions: ["1","5","10","15","30","60","120","240","1D","1W","1M"]
  depth: {"1": 90d, "5": 365d, "60": 2024-01-01, 1M: 2016-01-01}
  symbols:
    suffixes: [".z"]
    list:
      - {raw: EURUSD.z, description: Euro vs US Dollar, type: forex, digits: 5, session: 24x5, delaySeconds: 0}
  source: {type: Push}
`

export const exampleManifest = (): Record<string, unknown> => parse(text) as Record<string, unknown>

export function definitionOf(document: unknown): FeedDefinition {
  const parsed = parseManifest(document)
  if ('definition' in parsed) return parsed.definition
  throw new Error(`the manifest is invalid: ${JSON.stringify(parsed.faults)}`)
}

/** The faults of the example with the field at `path` replaced by `value` (`undefined`: removed). */
export function faultsWith(path: string, value: unknown): string[] {
  const document = exampleManifest()
  const names = path.split('.')
  let at = document
  for (const name of names.slice(0, -1)) at = at[name] as Record<string, unknown>
  at[names.at(-1)!] = value
  if (path === 'spec.resolutions') delete at['depth']
  const parsed = parseManifest(document)
  return 'faults' in parsed ? parsed.faults.map((fault) => `${fault.path.join('.')}: ${fault.message}`) : []
}
