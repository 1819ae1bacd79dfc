import { type FeedKey, isFeedKey } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Hello__Output } from '../../wire/gen/fxd/v1/Hello.ts'
import { type Access, mayPush } from '../credentials/access.ts'
import { SessionEnd } from '../session-end.ts'

const textLengthMax = 128

export interface CollectorIdentity {
  readonly feed: FeedKey
  readonly isImport: boolean
  readonly collectorId: string
  readonly terminal: string
  /** True if the collector can send its live bars again after a crash of ingest. */
  readonly rereadable: boolean
}

/** The collector behind a Hello; throws `SessionEnd` if it is malformed or not permitted. */
export function identify(hello: Hello__Output, view: RegistryView, access: Access): CollectorIdentity {
  const { feed, mode, collectorId, terminal } = hello
  if (mode !== 'SESSION_MODE_LIVE' && mode !== 'SESSION_MODE_IMPORT') {
    const wanted = 'SESSION_MODE_LIVE or SESSION_MODE_IMPORT'
    throw new SessionEnd('INVALID_ARGUMENT', `Hello.mode: got ${mode}, wanted ${wanted}`)
  }
  checkText('collector_id', collectorId, 1)
  checkText('terminal', terminal, 0)
  // Before the look-up: a credential without the permission must not learn whether the feed exists.
  if (!mayPush(access, feed)) {
    const may = access.feeds === 'all' ? [] : [...access.feeds]
    throw new SessionEnd(
      'PERMISSION_DENIED',
      `FOREIGN_FEED: this credential may push ${may.join(', ') || 'no feed'}; got ${show(feed)}`,
    )
  }
  return {
    feed: definedFeed(feed, view),
    isImport: mode === 'SESSION_MODE_IMPORT',
    collectorId,
    terminal,
    rereadable: hello.capabilities.includes('CAPABILITY_REREADABLE'),
  }
}

function checkText(field: string, { length }: string, lengthMin: 0 | 1): void {
  if (length >= lengthMin && length <= textLengthMax) return
  const wanted = `${lengthMin} to ${textLengthMax}`
  throw new SessionEnd('INVALID_ARGUMENT', `Hello.${field}: got ${length} characters, wanted ${wanted}`)
}

function definedFeed(feed: string, view: RegistryView): FeedKey {
  if (isFeedKey(feed) && view.feed(feed)) return feed
  const keys = view.feeds().map(({ key }) => key)
  throw new SessionEnd('NOT_FOUND', `there is no feed ${show(feed)}${didYouMean(feed, keys)}`)
}
