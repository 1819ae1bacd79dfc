import { fileURLToPath } from 'node:url'
import type { FeedDefinition } from '../core/feed.ts'
import { applyFeeds } from '../registry/apply-feeds.ts'
import { ManifestsInvalid } from '../registry/manifest-files.ts'
import { faultText, readManifests } from '../registry/manifests.ts'
import type { RegistryWriter } from '../registry/writer.ts'

/** What is served without FXD_FEEDS. */
export const demoFeeds = fileURLToPath(new URL('demo-feeds', import.meta.url))

/**
 * Makes the registry equal to the manifests at the path and gives their definitions. When anything is
 * wrong with them nothing is written, and it throws what `readManifests` throws.
 */
export async function applyManifests(
  path: string,
  writer: RegistryWriter,
): Promise<readonly FeedDefinition[]> {
  const { definitions, where } = await readManifests(path)
  const applied = await applyFeeds(writer, definitions)
  if (applied.outcome === 'applied') return definitions
  throw new ManifestsInvalid(
    path,
    applied.faults.map((fault) => faultText(where(fault.feed, fault.path), fault)),
  )
}
