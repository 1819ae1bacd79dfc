import { durationMs } from '../../core/clocks/duration.ts'
import { type UtcMs, utcMs } from '../../core/clocks/feed-clock.ts'
import { parseExpiry } from '../../core/keys/key-input.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IssueFeedTokenRequest__Output } from '../../wire/gen/fxd/v1/IssueFeedTokenRequest.ts'
import type { IssueFeedTokenResponse } from '../../wire/gen/fxd/v1/IssueFeedTokenResponse.ts'
import type { FeedTokens } from '../credentials/feed-tokens.ts'
import { checkFeeds } from './keys.ts'
import { failedPrecondition, invalid } from './refusal.ts'

/** Maximum feeds of a token; more would not fit the header that carries it. */
const tokenFeedsMax = 100
/** Maximum lifetime of a token: a single token cannot be revoked. */
const lifetimeMsMax = 3_660 * 86_400_000

export async function issueFeedToken(
  request: IssueFeedTokenRequest__Output,
  view: RegistryView,
  { feedTokens, clock }: { readonly feedTokens: FeedTokens; readonly clock: Clock },
): Promise<IssueFeedTokenResponse> {
  const feeds = checkFeeds(request.feeds, view, [])
  if (feeds.length > tokenFeedsMax) {
    throw invalid(`feeds: got ${feeds.length} feeds, wanted at most ${tokenFeedsMax} in one token`)
  }
  const [signingKey] = feedTokens.keyIds
  if (signingKey === undefined) {
    throw failedPrecondition(
      'FXD_SIGNING_KEYS, or else the administration token, has no key of 32 or more characters; add one.',
    )
  }
  const now = clock.utcMs()
  // The expiry of a token is in whole seconds.
  const expiresAt = utcMs(Math.floor(momentOf(request.expires, now) / 1_000) * 1_000)
  if (expiresAt <= now || expiresAt > now + lifetimeMsMax) {
    throw invalid(`expires: got ${show(request.expires)}, wanted a time in the future and within ten years`)
  }
  return { token: await feedTokens.issue(feeds, expiresAt), expiresAt, signingKey }
}

function momentOf(text: string, now: UtcMs): number {
  const ms = durationMs(text)
  return ms === undefined ? parseExpiry(text, 'a time such as 15m, 90d or 2w, ') : now + ms
}
