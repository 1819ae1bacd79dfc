import { keyRefusal } from '../../access/authenticate.ts'
import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import { type FailureCode, failures } from '../../core/failure.ts'
import { type KeyRecord, secretIsOpen } from '../../core/keys/api-key.ts'
import { type Closing, closings } from './close-codes.ts'

/** Why an open socket must go: the error frame that comes first, and the close. */
export interface Verdict {
  readonly code: FailureCode
  readonly message: string
  readonly closing: Closing
}

const verdict = (code: FailureCode, closing: Closing): Verdict => ({
  code,
  message: failures[code].message,
  closing,
})

const verdicts = {
  KEY_INACTIVE: verdict('KEY_INACTIVE', closings.keyRevoked),
  KEY_EXPIRED: verdict('KEY_EXPIRED', closings.keyExpired),
  IP_NOT_ALLOWED: verdict('IP_NOT_ALLOWED', closings.addressNotAllowed),
  KEY_INVALID: verdict('KEY_INVALID', closings.keyRevoked),
} as const

/**
 * Whether a socket may stay: the questions of the upgrade, asked again. A secret that a rotation took
 * away, or whose overlap ended, is gone for open sockets too: who rotates a leaked key means those.
 */
export function reviewKey(
  key: KeyRecord,
  caller: { readonly digest: string; readonly address: string },
  now: UtcMs,
): Verdict | undefined {
  const refused = keyRefusal(key, caller.address, now)
  if (refused) return verdicts[refused]
  const secret = key.secrets.find((each) => each.digest === caller.digest)
  return secret && secretIsOpen(secret, now) ? undefined : verdicts.KEY_INVALID
}
