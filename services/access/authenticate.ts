import { timingSafeEqual } from 'node:crypto'
import type { UtcMs } from '../core/clocks/feed-clock.ts'
import { Failure, type FailureCode } from '../core/failure.ts'
import { isKeyShaped, type KeyRecord, keyState, secretIsOpen } from '../core/keys/api-key.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import { addressMatcher } from '../platform/addresses.ts'
import { digestOf } from '../registry/key-digest.ts'

export interface Identification {
  /** The result of `credential`. */
  readonly credential: string | undefined
  /** The result of `clientAddress`. */
  readonly address: string
}

/**
 * The key behind a request. Order of checks: present, known, not revoked, not expired, address allowed.
 * Throws a `Failure` with UNAUTHORIZED, KEY_INVALID, KEY_INACTIVE, KEY_EXPIRED or IP_NOT_ALLOWED.
 */
export function authenticate(request: Identification, view: RegistryView, now: UtcMs): KeyRecord {
  if (!request.credential) throw new Failure('UNAUTHORIZED')
  const key = keyOf(request.credential, view, now)
  if (!key) throw new Failure('KEY_INVALID')
  const refused = keyRefusal(key, request.address, now)
  if (refused) throw new Failure(refused)
  return key
}

/** Why this known key may not be used from this address now. Also checked again for open sockets. */
export function keyRefusal(
  key: KeyRecord,
  address: string,
  now: UtcMs,
): Extract<FailureCode, 'KEY_INACTIVE' | 'KEY_EXPIRED' | 'IP_NOT_ALLOWED'> | undefined {
  const state = keyState(key, now)
  if (state === 'inactive') return 'KEY_INACTIVE'
  if (state === 'expired') return 'KEY_EXPIRED'
  return addressAllowed(key, address) ? undefined : 'IP_NOT_ALLOWED'
}

/** The id of the key of this secret, whether or not the key may be used; `undefined` without one. */
export const keyIdOf = (text: string, view: RegistryView, now: UtcMs): string | undefined =>
  keyOf(text, view, now)?.id

/** The key of this secret. A text that cannot be a key is never looked up. Digests are compared in constant time. */
function keyOf(text: string, view: RegistryView, now: UtcMs): KeyRecord | undefined {
  if (!isKeyShaped(text)) return undefined
  const digest = digestOf(text)
  const found = view.keys.byDigest(digest.toString('hex'))
  if (!found || !secretIsOpen(found.secret, now)) return undefined
  const stored = Buffer.from(found.secret.digest, 'hex')
  return stored.length === digest.length && timingSafeEqual(stored, digest) ? found.key : undefined
}

/** Cached per record: a changed key has a new record, so no stale list is used. */
const matchers = new WeakMap<KeyRecord, (address: string) => boolean>()

function addressAllowed(key: KeyRecord, address: string): boolean {
  if (key.allowIps.length === 0) return true
  let matches = matchers.get(key)
  if (!matches) {
    matches = addressMatcher(key.allowIps)
    matchers.set(key, matches)
  }
  return matches(address)
}
