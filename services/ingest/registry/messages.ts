import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import type { FeedRecord } from '../../core/feeds/feed.ts'
import type { FeedStatus } from '../../core/feeds/feed-status.ts'
import { type KeyRecord, keyState, openOldSecrets } from '../../core/keys/api-key.ts'
import type { Feed } from '../../wire/gen/fxd/v1/Feed.ts'
import type { Key } from '../../wire/gen/fxd/v1/Key.ts'
import { partBytesMax } from '../../wire/limits.ts'

/** A key as administration sees it, without the digests of its secrets. */
export function keyMessage(key: KeyRecord, version: number, now: UtcMs): Key {
  const oldUntil = Math.max(...key.secrets.map((secret) => secret.until ?? 0))
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    plan: key.plan,
    limits: key.limits,
    feeds: [...key.feeds],
    allowIps: [...key.allowIps],
    ...(key.expiresAt !== undefined && { expiresAt: key.expiresAt }),
    state: keyState(key, now),
    createdAt: key.createdAt,
    version,
    ...(oldUntil > now && { oldSecretUntil: oldUntil }),
    owner: key.owner ?? '',
    issue: key.issue ?? 0,
    oldSecrets: openOldSecrets(key, now).length,
  }
}

export function feedMessage(
  { definition, hidden, owner }: FeedRecord,
  status: FeedStatus,
  version: number,
): Feed {
  return {
    key: definition.key,
    description: definition.description,
    hidden,
    symbolCount: status.symbol_count,
    status: status.status,
    livenessSource: status.liveness_source,
    ...(status.last_candle_time !== undefined && { lastBarTime: status.last_candle_time }),
    ...(status.clock_offset_seconds !== undefined && { clockOffsetSeconds: status.clock_offset_seconds }),
    source: definition.source.type,
    owner: owner ?? '',
    version,
  }
}

/**
 * One page of a list: the items after the id `after`, up to `partBytesMax`, and the id after which the next page begins.
 * The order of the list must be stable. If `after` no longer exists, the page is empty and the last one.
 */
export function page<T>(
  items: readonly T[],
  after: string,
  idOf: (item: T) => string,
): { readonly items: readonly T[]; readonly next: string } {
  const start = after === '' ? 0 : items.findIndex((item) => idOf(item) === after) + 1
  if (after !== '' && start === 0) return { items: [], next: '' }
  let end = start
  let bytes = 0
  while (end < items.length) {
    bytes += JSON.stringify(items[end]).length
    if (bytes > partBytesMax && end > start) break
    end += 1
  }
  const taken = items.slice(start, end)
  const last = taken.at(-1)
  return { items: taken, next: end < items.length && last !== undefined ? idOf(last) : '' }
}
