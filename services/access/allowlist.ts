import type { KeyRecord } from '../core/keys/api-key.ts'
import { addressMatcher } from '../platform/addresses.ts'

/** Kept per record: a changed key is a new record, so a stale list cannot survive. */
const matchers = new WeakMap<KeyRecord, (address: string) => boolean>()

/** Whether the key may be used from this address; a key without a list may be used from everywhere. */
export function addressAllowed(key: KeyRecord, address: string): boolean {
  if (key.allowIps.length === 0) return true
  let matches = matchers.get(key)
  if (!matches) {
    matches = addressMatcher(key.allowIps)
    matchers.set(key, matches)
  }
  return matches(address)
}
