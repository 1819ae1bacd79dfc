import { type UtcMs, utcMs } from '../../core/clocks/feed-clock.ts'
import {
  type KeyRecord,
  type KeySecret,
  overlapMsMax,
  secretIsOpen,
  shownPrefixLength,
} from '../../core/keys/api-key.ts'
import { parseExpiry, parsePlan, resolveLimits } from '../../core/keys/key-input.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import type { PutKeyRequest__Output } from '../../wire/gen/fxd/v1/PutKeyRequest.ts'
import { checkAddresses, checkFeeds, checkName, refuseOldSecrets, refuseRevoked } from './keys.ts'
import { alreadyExists, changedMeanwhile, failedPrecondition, invalid } from './refusal.ts'

const idShape = /^[a-z0-9_-]{1,64}$/
const digestBytes = 32
const ownerLengthMax = 64

/**
 * The record of the key as its owner wants it. Repeated requests give the same record, in any order: a request of an
 * earlier issue is refused once a later issue is stored.
 */
export function putKey(request: PutKeyRequest__Output, view: RegistryView, now: UtcMs): KeyRecord {
  checkShapes(request)
  const digest = request.sha256.toString('hex')
  const had = view.keys.get(request.id)
  if (had) refuseChange(request, had, digest)
  refuseTaken(request.id, digest, view)
  const plan = parsePlan(request.plan)
  return {
    id: request.id,
    name: checkName(request.name),
    prefix: request.prefix,
    secrets:
      had?.issue === request.issue ? had.secrets : [{ digest }, ...oldSecrets(request, had, digest, now)],
    plan,
    limits: resolveLimits(plan, request.limits ?? {}),
    feeds: request.feeds.length === 0 ? [] : checkFeeds(request.feeds, view, had?.feeds ?? []),
    allowIps: checkAddresses(request.allowIps),
    expiresAt: request.expires === '' ? undefined : parseExpiry(request.expires),
    revoked: false,
    createdAt: had?.createdAt ?? now,
    owner: request.owner,
    issue: request.issue,
  }
}

/**
 * The key, suspended until its owner puts it again; `undefined` if it has another owner or is revoked. It
 * also expires, because pods of the previous release cannot undo a suspension, only an expiry.
 */
export function suspendKey(
  { id, owner }: { readonly id: string; readonly owner: string },
  view: RegistryView,
  now: UtcMs,
): KeyRecord | undefined {
  const key = view.keys.get(id)
  if (key === undefined || key.owner !== owner || owner === '' || key.revoked) return undefined
  const expiresAt = key.expiresAt !== undefined && key.expiresAt < now ? key.expiresAt : now
  return { ...key, suspended: true, expiresAt }
}

function checkShapes({ id, owner, issue, sha256, prefix }: PutKeyRequest__Output): void {
  if (!idShape.test(id)) throw invalid(`id: got ${show(id)}, wanted 1 to 64 of a-z, 0-9, _ and -`)
  if (owner === '' || owner.length > ownerLengthMax)
    throw invalid(
      `owner: got ${show(owner)}, wanted the UID of an object, at most ${ownerLengthMax} characters`,
    )
  if (issue < 1) throw invalid(`issue: got ${issue}, wanted at least 1`)
  if (sha256.length !== digestBytes)
    throw invalid(`sha256: got ${sha256.length} bytes, wanted the ${digestBytes} of a SHA-256`)
  if (!/^fxd_[0-9a-f]{4}$/.test(prefix))
    throw invalid(`prefix: got ${show(prefix)}, wanted the first ${shownPrefixLength} characters of the key`)
}

function refuseChange(request: PutKeyRequest__Output, had: KeyRecord, digest: string): void {
  const { id, owner, previousOwner, issue } = request
  if (had.owner !== owner && (had.owner === undefined || had.owner !== previousOwner))
    throw failedPrecondition(
      `${id} belongs to ${had.owner === undefined ? '"fxd keys"' : `the object with the UID ${had.owner}`}, not to ${owner}.`,
    )
  refuseRevoked(had)
  const stored = had.issue ?? 0
  if (issue < stored) throw changedMeanwhile(`${id} has issue ${stored} already; ${issue} is older.`)
  if (issue === stored && had.secrets[0]?.digest !== digest)
    throw changedMeanwhile(`${id} has issue ${issue} with another secret.`)
}

function refuseTaken(id: string, digest: string, view: RegistryView): void {
  const found = view.keys.byDigest(digest)
  if (found && found.key.id !== id && !found.key.revoked)
    throw alreadyExists(`sha256: the key ${found.key.id} already has this secret; give ${id} another one.`)
}

const clockDifferenceMs = 60_000

/** Secrets of earlier issues that stay valid for a while. An earlier end of a secret is kept. */
function oldSecrets(
  { id, oldUntil }: PutKeyRequest__Output,
  had: KeyRecord | undefined,
  digest: string,
  now: UtcMs,
): KeySecret[] {
  if (oldUntil > now + overlapMsMax + clockDifferenceMs)
    throw invalid(`old_until: got ${oldUntil}, wanted at most 90 days ahead of ${now}`)
  const open = (had?.secrets ?? []).filter((secret) => secretIsOpen(secret, now) && secret.digest !== digest)
  const old = open
    .map((secret) => ({ digest: secret.digest, until: utcMs(Math.min(secret.until ?? oldUntil, oldUntil)) }))
    .filter((secret) => secretIsOpen(secret, now))
  refuseOldSecrets(id, old)
  return old
}
