import { isIP } from 'node:net'
import { durationText } from '../../core/clocks/duration.ts'
import { type UtcMs, utcMs } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import {
  type KeyRecord,
  type KeySecret,
  oldSecretsMax,
  overlapMsMax,
  secretIsOpen,
  shownPrefixLength,
} from '../../core/keys/api-key.ts'
import { type GivenLimits, parseExpiry, parsePlan, resolveLimits } from '../../core/keys/key-input.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import { isAddressBlock } from '../../platform/addresses.ts'
import type { Clock } from '../../ports/clock.ts'
import { digestOf } from '../../registry/key-digest.ts'
import type { CreateKeyRequest__Output } from '../../wire/gen/fxd/v1/CreateKeyRequest.ts'
import type { UpdateKeyRequest__Output } from '../../wire/gen/fxd/v1/UpdateKeyRequest.ts'
import { changedMeanwhile, failedPrecondition, invalid, notFound } from './refusal.ts'

const nameLengthMax = 128
const feedsMax = 200
const allowIpsMax = 200

/** The id, secret and time of a new key. The secret is never stored, only its digest. */
export interface Issue {
  readonly id: string
  readonly secret: string
  readonly now: UtcMs
}

const idBytes = 5
const secretBytes = 16

/** Makes a secret for a new key, or for the key with this id. */
export const newIssue = (clock: Clock, id = `k_${clock.randomHex(idBytes)}`): Issue => ({
  id,
  secret: `fxd_${clock.randomHex(secretBytes)}`,
  now: clock.utcMs(),
})

const secretDigest = (secret: string): string => digestOf(secret).toString('hex')
const prefixOf = (secret: string): string => secret.slice(0, shownPrefixLength)

export function createKey(request: CreateKeyRequest__Output, view: RegistryView, issue: Issue): KeyRecord {
  if (view.keys.get(issue.id))
    throw changedMeanwhile(`The id ${issue.id} was taken by another request; try again.`)
  const plan = parsePlan(request.plan)
  return {
    id: issue.id,
    name: checkName(request.name),
    prefix: prefixOf(issue.secret),
    secrets: [{ digest: secretDigest(issue.secret) }],
    plan,
    limits: resolveLimits(plan, request.limits ?? {}),
    feeds: checkFeeds(request.feeds, view, []),
    allowIps: checkAddresses(request.allowIps),
    expiresAt: request.expires === '' ? undefined : parseExpiry(request.expires),
    revoked: false,
    createdAt: issue.now,
  }
}

export function updateKey(request: UpdateKeyRequest__Output, view: RegistryView, key: KeyRecord): KeyRecord {
  refuseRevoked(key)
  refuseOwned(key)
  const plan = request.plan === undefined ? key.plan : parsePlan(request.plan)
  const given = givenOf(request.limits ?? {})
  return {
    ...key,
    name: request.name === undefined ? key.name : checkName(request.name),
    plan,
    // Another plan sets its own default limits; within a plan, limits that are not given stay.
    limits: resolveLimits(plan, plan === key.plan ? { ...key.limits, ...given } : given),
    feeds: request.feeds ? checkFeeds(request.feeds.values, view, key.feeds) : key.feeds,
    allowIps: request.allowIps ? checkAddresses(request.allowIps.values) : key.allowIps,
    expiresAt: request.expires === undefined ? key.expiresAt : changedExpiry(request.expires),
  }
}

/** Adds a new secret to the key. While old and new secret overlap, they share limits, slots and usage. */
export function rotateKey(key: KeyRecord, overlapMs: number, issue: Issue): KeyRecord {
  refuseRevoked(key)
  refuseOwned(key)
  if (overlapMs > overlapMsMax) {
    throw invalid(`overlap: got ${overlapMs} ms, wanted at most ${durationText(overlapMsMax / 1_000)}`)
  }
  const until = utcMs(issue.now + overlapMs)
  const open = overlapMs === 0 ? [] : key.secrets.filter((secret) => secretIsOpen(secret, issue.now))
  refuseOldSecrets(key.id, open)
  const old = open.map((secret): KeySecret => ({ digest: secret.digest, until: secret.until ?? until }))
  const secrets = [{ digest: secretDigest(issue.secret) }, ...old]
  return { ...key, prefix: prefixOf(issue.secret), secrets }
}

/** A further old secret would end the oldest one before its time. */
export function refuseOldSecrets(id: string, old: readonly KeySecret[]): void {
  if (old.length > oldSecretsMax)
    throw failedPrecondition(
      `${id} has ${oldSecretsMax} old secrets that are still valid; wait until one expires or rotate without overlap.`,
    )
}

export function refuseRevoked(key: KeyRecord): void {
  if (key.revoked) throw failedPrecondition(`${key.id} is revoked, which is final; create a new key.`)
}

function refuseOwned({ id, owner }: KeyRecord): void {
  if (owner !== undefined)
    throw failedPrecondition(`${id} belongs to the ApiKey object with the UID ${owner}: change that object.`)
}

const givenOf = (limits: GivenLimits): GivenLimits =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => typeof value === 'number'))

const changedExpiry = (text: string): UtcMs | undefined => (text === 'never' ? undefined : parseExpiry(text))

export function checkName(name: string): string {
  if (name.length <= nameLengthMax && !/\p{C}/u.test(name)) return name
  throw invalid(`name: got ${show(name)}, wanted at most ${nameLengthMax} printable characters`)
}

/** Checks the feeds of a key. A feed that the key already has may stay, even if no manifest defines it. */
export function checkFeeds(
  wanted: readonly string[],
  view: RegistryView,
  had: readonly FeedKey[],
): FeedKey[] {
  const known = view.feeds().map((feed) => feed.key)
  if (wanted.length === 0) throw invalid(`feeds: got none, wanted at least one of ${list(known)}`)
  if (wanted.length > feedsMax) throw invalid(`feeds: got ${wanted.length} feeds, wanted at most ${feedsMax}`)
  const allowed = new Set<string>([...known, ...had])
  for (const key of wanted) {
    if (allowed.has(key)) continue
    const hint = didYouMean(key, allowed) || `; there are ${list(known)}`
    throw notFound(`feeds: got ${show(key)}, wanted a feed of this service${hint}`)
  }
  return [...new Set(wanted)] as FeedKey[]
}

const listedMax = 20
const list = (keys: readonly string[]): string =>
  keys.length === 0
    ? 'none yet'
    : keys.slice(0, listedMax).join(', ') + (keys.length > listedMax ? ', …' : '')

export function checkAddresses(blocks: readonly string[]): string[] {
  if (blocks.length > allowIpsMax)
    throw invalid(`allow_ips: got ${blocks.length} entries, wanted at most ${allowIpsMax}`)
  for (const block of blocks) {
    if (isAddressBlock(block)) continue
    const hint = isIP(block.split('/')[0] ?? '') === 0 ? '' : ': the part behind the slash counts bits'
    throw invalid(
      `allow_ips: got ${show(block)}, wanted an address or a CIDR block such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32${hint}`,
    )
  }
  return [...new Set(blocks)]
}
