import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition, FeedRecord } from '../core/feeds/feed.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import { type FeedFault, feedRows, immutableFaults } from './feed-rows.ts'
import type { RegistryWriter } from './writer.ts'

export interface Claim {
  readonly uid: string
  /** UID of a deleted object whose feed is taken over; empty for none. */
  readonly previousUid: string
  /** Version of the feed's record that the change is based on; 0 for any. */
  readonly basedOn: number
}

export type ApplyOutcome =
  | { readonly outcome: 'applied' }
  | { readonly outcome: 'refused'; readonly faults: readonly FeedFault[] }
  | { readonly outcome: 'owned'; readonly owner: string }
  | { readonly outcome: 'moved'; readonly version: number }

/** Creates or changes one feed for the object that defines it. A repeat writes nothing. */
export function applyFeed(
  writer: RegistryWriter,
  definition: FeedDefinition,
  claim: Claim,
): Promise<ApplyOutcome> {
  return writer.change<ApplyOutcome>((view) => {
    const refused = refusal(definition, claim, view)
    if (refused) return { rows: [], result: refused }
    return { rows: feedRows(definition, claim.uid, view), result: { outcome: 'applied' } }
  })
}

/** Hides the feed if the object owns it. Resolves with false if another owner has it. */
export function removeFeed(writer: RegistryWriter, key: string, uid: string): Promise<boolean> {
  return writer.change<boolean>((view) => {
    const feed = view.feedRecords.get(key)
    if (feed?.owner !== uid) return { rows: [], result: false }
    if (feed.hidden) return { rows: [], result: true }
    return {
      rows: [{ kind: 'feed', id: feed.definition.key, body: { ...feed, hidden: true } }],
      result: true,
    }
  })
}

export const feedsOwners = ['operator', 'manifests'] as const
type FeedsOwner = (typeof feedsOwners)[number]

/** Transfers all feeds to the owner and changes nothing else. Resolves with the number of transferred feeds. */
export function setFeedsOwner(writer: RegistryWriter, owner: FeedsOwner): Promise<number> {
  return writer.change<number>((view) => {
    const rows = view.allFeeds().flatMap(({ definition, hidden, owner: had }) => {
      const isUnchanged = (had === undefined) === (owner === 'manifests')
      const body: FeedRecord = { definition, hidden, ...(owner === 'operator' && { owner }) }
      return isUnchanged ? [] : [{ kind: 'feed' as const, id: definition.key, body }]
    })
    return { rows, result: rows.length }
  })
}

function refusal(
  definition: FeedDefinition,
  { uid, previousUid, basedOn }: Claim,
  view: RegistryView,
): Exclude<ApplyOutcome, { outcome: 'applied' }> | undefined {
  const had = view.feedRecords.get(definition.key)
  const isOurs = had?.owner !== undefined && [uid, previousUid, 'operator'].includes(had.owner)
  if (had && !had.hidden && !isOurs) return { outcome: 'owned', owner: had.owner ?? 'manifests' }
  const version = view.versionOf(definition.key)
  if (basedOn !== 0 && basedOn < version) return { outcome: 'moved', version }
  // A feed of another object had the name: that object was deleted, and its feed will be hidden or taken over.
  const isOther = (feed: FeedKey): boolean => {
    const owner = view.feedRecords.get(feed)?.owner
    return owner !== undefined && owner !== uid && owner !== 'operator'
  }
  const faults = immutableFaults(definition, view, isOther)
  return faults.length > 0 ? { outcome: 'refused', faults } : undefined
}
