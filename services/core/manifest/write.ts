import { dateText } from '../clocks/calendar.ts'
import { durationText } from '../clocks/duration.ts'
import type { FeedDefinition } from '../feeds/feed.ts'
import { depthText } from './depth.ts'
import { manifestApiVersion } from './manifest.ts'

/** The document that `parseManifest` turns into this definition, with all defaults written out. */
export const definitionToManifest = (definition: FeedDefinition) => ({
  apiVersion: manifestApiVersion,
  kind: 'Feed',
  metadata: { name: definition.name },
  spec: {
    broker: definition.broker,
    account: definition.account,
    brokerName: definition.brokerName,
    description: definition.description,
    clock: definition.clock,
    quoteBasis: definition.quoteBasis,
    resolutions: definition.resolutions,
    delaySeconds: definition.delaySeconds,
    liveness: definition.liveness,
    depth: mapValues(definition.depth, depthText),
    retention: mapValues(definition.retention, durationText),
    ...(definition.earliest !== undefined && { earliest: dateText(definition.earliest) }),
    storage: { buckets: definition.storageBuckets },
    symbols: { suffixes: definition.suffixes, list: definition.symbols },
    source: definition.source,
  },
})

const mapValues = <T, U>(values: Readonly<Record<string, T | undefined>>, change: (value: T) => U) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, change(value)]])),
  )
