import { fileURLToPath } from 'node:url'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import { createKey, newIssue } from '../ingest/registry/keys.ts'
import { Fatal } from '../platform/exit.ts'
import type { Log } from '../platform/log/log.ts'
import { Serial } from '../platform/serial.ts'
import type { Clock } from '../ports/clock.ts'
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

/** Reads manifests again, one time after the other; when they are invalid it says so and the old ones stay. */
export function createReload(path: string, apply: () => Promise<unknown>, log: Log): () => Promise<void> {
  const reload = async (): Promise<void> => {
    try {
      await apply()
      log.info({ feeds: path }, 'the Feed manifests were read again')
    } catch (cause) {
      const reason = cause instanceof Fatal ? cause.message : cause
      log.error({ err: reason }, 'the Feed manifests were not applied; the old ones stay')
    }
  }
  // One after another, so that the files as they were last are what stays.
  const reloads = new Serial()
  return () => reloads.run(reload)
}

/** Issues a key for all given feeds, so that a newcomer can try them at once; gives its secret. */
export async function issueFirstKey(
  writer: RegistryWriter,
  definitions: readonly FeedDefinition[],
  clock: Clock,
): Promise<string> {
  const issue = newIssue(clock)
  const wanted = {
    name: 'made at the first start',
    plan: 'pro',
    feeds: definitions.map((definition) => definition.key),
    limits: null,
    allowIps: [],
    expires: '',
  }
  await writer.change((view) => {
    const body = createKey(wanted, view, issue)
    return { rows: [{ kind: 'key', id: body.id, body }], result: undefined }
  })
  return issue.secret
}
