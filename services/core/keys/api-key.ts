import { dayMs } from '../clocks/calendar.ts'
import type { UtcMs } from '../clocks/feed-clock.ts'
import type { FeedKey } from '../feeds/compound-key.ts'
import type { KeyLimits, Plan } from './plan.ts'

const shape = /^fxd_[0-9a-f]{32}$/
/** `fxd_` and 32 hex characters, 36 in total; any other text is rejected without a look-up. */
export const isKeyShaped = (text: string): boolean => shape.test(text)
/** Length of the prefix of a key that is shown after its creation. */
export const shownPrefixLength = 8

/** Maximum old secrets of a key that are still valid. */
export const oldSecretsMax = 4
export const overlapMsMax = 90 * dayMs

/** A key's secret as stored: SHA-256 in lower-case hex, and the end of its validity. */
export interface KeySecret {
  readonly digest: string
  /** Set on the old secret of a rotation with overlap. */
  readonly until?: UtcMs | undefined
}

export interface KeyRecord {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly secrets: readonly KeySecret[]
  readonly plan: Plan
  readonly limits: KeyLimits
  readonly feeds: readonly FeedKey[]
  /** Addresses and CIDR blocks, v4 and v6; empty: all addresses. */
  readonly allowIps: readonly string[]
  /** The first millisecond at which the key is expired. */
  readonly expiresAt?: UtcMs | undefined
  /** Final once set. */
  readonly revoked: boolean
  /** Its owner suspended it, and may allow it again. */
  readonly suspended?: boolean | undefined
  /** UID of the object that owns it; `undefined`: the command line. */
  readonly owner?: string | undefined
  /** Number of the newest secret, counted by the owner; `undefined`: the command line created it. */
  readonly issue?: number | undefined
  readonly createdAt: UtcMs
}

export type KeyState = 'active' | 'expired' | 'inactive'

export function keyState(key: KeyRecord, now: UtcMs): KeyState {
  if (key.revoked || key.suspended) return 'inactive'
  return key.expiresAt !== undefined && now >= key.expiresAt ? 'expired' : 'active'
}

export const openOldSecrets = ({ secrets }: KeyRecord, now: UtcMs): readonly KeySecret[] =>
  secrets.filter((secret) => secret.until !== undefined && secretIsOpen(secret, now))

export const secretIsOpen = (secret: KeySecret, now: UtcMs): boolean =>
  secret.until === undefined || now < secret.until
