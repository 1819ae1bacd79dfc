import { dayMs } from '../../services/core/clocks/calendar.ts'
import type { UtcMs } from '../../services/core/clocks/feed-clock.ts'
import type { AnswerOf } from '../../services/wire/unary-client.ts'
import { timeOf, timeText } from '../kube/condition.ts'
import { type FeedObject, feedLabel, group, type Secret } from '../kube/resources.ts'
import { secretWith } from '../kube/secret-values.ts'
import { collectorNames, feedKeyOf } from './objects.ts'

/** Validity of a token; the operator renews it after half of this time. */
export const tokenLife = '30d'
const lifeMs = 30 * dayMs
const feedAnnotation = `${group}/token-feed`
const expiresAnnotation = `${group}/token-expires`
const signingKeyAnnotation = `${group}/token-signing-key`

/** When the token of the Secret expires, UTC milliseconds; `undefined`: the Secret has no token of this feed. */
export function tokenExpiry(secret: Secret | undefined, feed: FeedObject): number | undefined {
  const { annotations = {} } = secret?.metadata ?? {}
  const expires = timeOf(annotations[expiresAnnotation])
  const isWhole = (secret?.data?.['token'] ?? '') !== '' && annotations[feedAnnotation] === feedKeyOf(feed)
  return isWhole && expires > 0 ? expires : undefined
}

/** Id of the key that signed the token; '': there is none. */
export const signingKeyOf = (secret: Secret | undefined): string =>
  secret?.metadata.annotations?.[signingKeyAnnotation] ?? ''

/** Whether half of the validity has passed. `expires`: UTC milliseconds, `undefined` without a token. */
export const needsRenewal = (expires: number | undefined, nowMs: UtcMs): boolean =>
  expires === undefined || expires - nowMs < lifeMs / 2

export const tokenSecret = (
  feed: FeedObject,
  { token, expiresAt, signingKey }: AnswerOf<'IssueFeedToken'>,
): Secret =>
  secretWith(
    {
      name: collectorNames(feed.metadata.name).token,
      labels: { [feedLabel]: feed.metadata.name },
      annotations: {
        [feedAnnotation]: feedKeyOf(feed),
        [expiresAnnotation]: timeText(expiresAt),
        [signingKeyAnnotation]: signingKey,
      },
    },
    { token: `${token}\n` },
  )
