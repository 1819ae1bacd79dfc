import type { FeedDefinition } from '../core/feed.ts'
import { createKey, newIssue } from '../ingest/registry/keys.ts'
import type { Clock } from '../ports/clock.ts'
import type { RegistryWriter } from '../registry/writer.ts'

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
