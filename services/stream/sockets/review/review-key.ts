import { keyRefusal } from '../../../access/authenticate.ts'
import type { UtcMs } from '../../../core/clocks/feed-clock.ts'
import { type FailureCode, failures } from '../../../core/failure.ts'
import { type KeyRecord, secretIsOpen } from '../../../core/keys/api-key.ts'
import { type Closing, closings } from '../../connection/close-codes.ts'

/** Why an open socket must be closed: the error frame that is sent first, and the close code. */
export interface KeyRefusal {
  readonly code: FailureCode
  readonly message: string
  readonly closing: Closing
}

const refusal = (code: FailureCode, closing: Closing): KeyRefusal => ({
  code,
  message: failures[code].message,
  closing,
})

const refusals = {
  KEY_INACTIVE: refusal('KEY_INACTIVE', closings.keyRevoked),
  KEY_EXPIRED: refusal('KEY_EXPIRED', closings.keyExpired),
  IP_NOT_ALLOWED: refusal('IP_NOT_ALLOWED', closings.addressNotAllowed),
  KEY_INVALID: refusal('KEY_INVALID', closings.keyRevoked),
} as const

/** `undefined`: the socket may stay open. The old secret of a rotation is refused after the overlap: it may be leaked. */
export function reviewKey(
  key: KeyRecord,
  caller: { readonly digest: string; readonly address: string },
  now: UtcMs,
): KeyRefusal | undefined {
  const refused = keyRefusal(key, caller.address, now)
  if (refused) return refusals[refused]
  const secret = key.secrets.find((each) => each.digest === caller.digest)
  return secret && secretIsOpen(secret, now) ? undefined : refusals.KEY_INVALID
}
