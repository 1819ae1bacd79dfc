import { fileURLToPath } from 'node:url'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import { createKey, newIssue } from '../ingest/registry/keys.ts'
import type { Log } from '../platform/log/log.ts'
import { Fatal } from '../platform/process/exit.ts'
import { Serial } from '../platform/serial.ts'
import { untilAvailable, type WaitingDeps } from '../platform/until-available.ts'
import type { BarStore } from '../ports/bars.ts'
import { applyFeeds } from '../registry/apply-feeds.ts'
import type { FeedFault } from '../registry/feed-rows.ts'
import { ManifestsInvalid } from '../registry/manifest-files.ts'
import { faultText, readManifests } from '../registry/manifests.ts'
import { renameFaults } from '../registry/rename-faults.ts'
import type { RegistryWriter } from '../registry/writer.ts'

/** Folder of the manifests that are used without FXD_FEEDS. */
export const demoFeeds = fileURLToPath(new URL('demo-feeds', import.meta.url))

/** Makes the registry equal to the manifests. If one is invalid, writes nothing and throws `ManifestsInvalid` or `Fatal`. */
export async function applyManifests(
  path: string,
  stores: { readonly writer: RegistryWriter; readonly bars: BarStore },
): Promise<readonly FeedDefinition[]> {
  const { definitions, where } = await readManifests(path)
  const refuse = (faults: readonly FeedFault[]): never => {
    const texts = faults.map((fault) => faultText(where(fault.feed, fault.path), fault))
    throw new ManifestsInvalid(path, texts)
  }
  const renamed = await Promise.all(definitions.map((definition) => renameFaults(definition, stores)))
  if (renamed.flat().length > 0) refuse(renamed.flat())
  const applied = await applyFeeds(stores.writer, definitions)
  return applied.outcome === 'applied' ? definitions : refuse(applied.faults)
}

/** Returns a function that reads the manifests again; invalid ones are logged, and the old ones stay in use. */
export function createReload(path: string, apply: () => Promise<unknown>, log: Log): () => Promise<void> {
  const reload = async (): Promise<void> => {
    try {
      await apply()
      log.info({ feeds: path }, 'Feed manifests reloaded')
    } catch (cause) {
      const reason = cause instanceof Fatal ? cause.message : cause
      log.error({ err: reason }, 'Feed manifests rejected; the old ones stay in use')
    }
  }
  // One after another, so that the newest files are applied last.
  const reloads = new Serial()
  return () => reloads.run(reload)
}

/** Issues a key for all given feeds; returns its secret. While the store is unavailable it waits. */
export async function issueFirstKey(
  writer: RegistryWriter,
  definitions: readonly FeedDefinition[],
  waiting: WaitingDeps,
): Promise<string> {
  const issue = newIssue(waiting.clock)
  const wanted = {
    name: 'made at the first start',
    plan: 'pro',
    feeds: definitions.map((definition) => definition.key),
    limits: null,
    allowIps: [],
    expires: '',
  }
  const store = (): Promise<void> =>
    writer.change((view) => {
      // An earlier attempt may have been stored without an answer.
      if (view.keys.get(issue.id)) return { rows: [], result: undefined }
      const body = createKey(wanted, view, issue)
      return { rows: [{ kind: 'key', id: body.id, body }], result: undefined }
    })
  await untilAvailable(store, waiting)
  return issue.secret
}
