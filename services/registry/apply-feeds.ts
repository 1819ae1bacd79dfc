import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import type { RegistryBody } from '../ports/registry.ts'
import { type FeedFault, feedRows, immutableFaults } from './feed-rows.ts'
import type { RegistryWriter } from './writer.ts'

export type FeedsOutcome =
  | { readonly outcome: 'applied'; readonly written: number }
  /** Nothing was written: an immutable field was changed, or a feed has another owner. */
  | { readonly outcome: 'refused'; readonly faults: readonly FeedFault[] }

/**
 * Makes the registry equal to the manifests. Hides feeds that no manifest defines any more, and symbols that only a
 * manifest listed; bars stay. Feeds of the operator are unchanged. Only differences are written.
 */
export function applyFeeds(
  writer: RegistryWriter,
  definitions: readonly FeedDefinition[],
): Promise<FeedsOutcome> {
  return writer.change<FeedsOutcome>((view) => {
    const defined = new Set(definitions.map(({ key }) => key))
    const faults = definitions.flatMap((definition) => [
      ...ownerFaults(definition, view),
      ...immutableFaults(definition, view, (feed) => defined.has(feed)),
    ])
    if (faults.length > 0) return { rows: [], result: { outcome: 'refused', faults } }
    const rows = wantedRows(definitions, view)
    return { rows, result: { outcome: 'applied', written: rows.length } }
  })
}

function ownerFaults({ key }: FeedDefinition, view: RegistryView): FeedFault[] {
  const had = view.feedRecords.get(key)
  if (had?.owner === undefined) return []
  const message =
    `got ${key}, which the operator owns: take it out of FXD_FEEDS, ` +
    'or hand all feeds back with "fxd feeds owner manifests"'
  return [{ feed: key, path: ['spec', 'account'], message }]
}

function wantedRows(definitions: readonly FeedDefinition[], view: RegistryView): RegistryBody[] {
  const named = new Set(definitions.map((definition) => definition.key))
  const rows = definitions.flatMap((definition) => feedRows(definition, undefined, view))
  for (const feed of view.allFeeds()) {
    const { key } = feed.definition
    const isGone = !named.has(key) && !feed.hidden && feed.owner === undefined
    if (isGone) rows.push({ kind: 'feed', id: key, body: { ...feed, hidden: true } })
  }
  return rows
}
