import { parseManifest } from '../../core/manifest/manifest.ts'
import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { BarStore } from '../../ports/bars.ts'
import { applyFeed, feedsOwners, removeFeed, setFeedsOwner } from '../../registry/apply-feed.ts'
import type { FeedFault } from '../../registry/feed-rows.ts'
import { faultText } from '../../registry/manifests.ts'
import { renameFaults } from '../../registry/rename-faults.ts'
import type { RegistryWriter } from '../../registry/writer.ts'
import type { ApplyFeedRequest__Output } from '../../wire/gen/fxd/v1/ApplyFeedRequest.ts'
import { changedMeanwhile, failedPrecondition, invalid } from './refusal.ts'

const uidLengthMax = 64

/** Applies the manifest of one object. Resolves with the feed's key; throws `RegistryRefusal`. */
export async function applyManifest(
  request: ApplyFeedRequest__Output,
  stores: { readonly writer: RegistryWriter; readonly bars: BarStore },
): Promise<string> {
  const { manifestJson, uid, previousUid, basedOn } = request
  checkUid(uid)
  const parsed = parseManifest(documentOf(manifestJson))
  if ('faults' in parsed) throw refused(parsed.faults)
  const { definition } = parsed
  const renamed = await renameFaults(definition, stores)
  if (renamed.length > 0) throw refused(renamed)
  const applied = await applyFeed(stores.writer, definition, { uid, previousUid, basedOn })
  if (applied.outcome === 'refused') throw refused(applied.faults)
  if (applied.outcome === 'moved')
    throw changedMeanwhile(
      `${definition.key} was changed by another request: version ${applied.version} is newer than ${basedOn}.`,
    )
  if (applied.outcome === 'owned') throw failedPrecondition(ownedText(definition.key, applied.owner))
  return definition.key
}

const refused = (faults: readonly Pick<FeedFault, 'path' | 'message'>[]) =>
  invalid(faults.map((fault) => faultText('manifest', fault)).join('\n'))

export async function removeOwnFeed(
  { key, uid }: { readonly key: string; readonly uid: string },
  writer: RegistryWriter,
): Promise<boolean> {
  checkUid(uid)
  return removeFeed(writer, key, uid)
}

export async function handOverFeeds(owner: string, writer: RegistryWriter): Promise<number> {
  const known = feedsOwners.find((each) => each === owner)
  if (known !== undefined) return setFeedsOwner(writer, known)
  throw invalid(`owner: got ${show(owner)}, wanted operator or manifests${didYouMean(owner, feedsOwners)}`)
}

function checkUid(uid: string): void {
  if (uid !== '' && uid !== 'operator' && uid.length <= uidLengthMax) return
  throw invalid(`uid: got ${show(uid)}, wanted the UID of an object, at most ${uidLengthMax} characters`)
}

function documentOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('manifest_json: got no JSON, wanted a Feed manifest as JSON')
  }
}

const ownedText = (key: string, owner: string): string =>
  owner === 'manifests'
    ? `${key} belongs to the manifests of FXD_FEEDS: hand all feeds over with "fxd feeds owner operator".`
    : `${key} belongs to the Feed object with the UID ${owner}: delete that object, or give this one another account.`
