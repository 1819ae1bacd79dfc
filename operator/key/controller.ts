import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { durationMs } from '../../services/core/clocks/duration.ts'
import { oldSecretsMax, overlapMsMax } from '../../services/core/keys/api-key.ts'
import { type Controller, type ControllerDeps, unavailable, unloadedMs } from '../controller.ts'
import { readyOf } from '../kube/condition.ts'
import type { ApiKeyStatus } from '../kube/kinds.ts'
import { NotReady, notReadyOf } from '../kube/not-ready.ts'
import { retain } from '../kube/object.ts'
import { type ApiKeyObject, resources, type Secret } from '../kube/resources.ts'
import { StatusWriter } from '../kube/status-writer.ts'
import { type Digest, type KeyState, planKey } from './plan.ts'
import { RegisteredKeys } from './registered-keys.ts'
import {
  deliveredAt,
  deliveryIn,
  deliveryName,
  deliverySecret,
  digestIn,
  digestName,
  digestSecret,
  ownSecretIn,
  refuseDelivery,
  refuseForeignSecret,
  withPolicy,
} from './secrets.ts'
import { expiresInMs, isExpired, keyStatusOf } from './status.ts'

const overlapDefault = '24h'
const secretBytes = 16
/** Maximum steps of one reconcile. No key needs more; above it something undoes the steps. */
const stepsMax = 8

const fullMessage =
  `The key has ${oldSecretsMax} old secrets that are still valid, so it is not rotated. The operator rotates it when one of ` +
  'them ends; or set spec.overlap to 0s, which ends them all.'

type Wanted = Pick<KeyState, 'specIssue' | 'deliveredTo'>

const sha256 = (secret: string): string => hash('sha256', secret)

/** Reconciles an ApiKey: delivers a secret, stores its digest and puts the key into the registry, in this order. */
export class KeyController implements Controller {
  readonly #deps: ControllerDeps
  readonly #keys: RegisteredKeys
  readonly #statuses: StatusWriter<ApiKeyStatus>
  /** Versions of the object, the registry and the Secrets at the last reconcile that had nothing to do, by UID. */
  readonly #settled = new Map<string, string>()

  constructor(deps: ControllerDeps) {
    this.#deps = deps
    this.#keys = new RegisteredKeys(deps)
    const options = { frequent: [], everyMs: 0, routine: ['Revoked'], starting: [] }
    this.#statuses = new StatusWriter<ApiKeyStatus>(resources.apikeys, options, deps)
  }

  async reconcile(name: string): Promise<number | undefined> {
    const key = this.#deps.caches.apikeys.get(name)
    if (key === undefined || key.metadata.deletionTimestamp !== undefined) return undefined
    const { isLoaded, failure } = this.#deps.registry.keys
    if (!isLoaded) {
      await this.#writeUnavailable(key, failure)
      return unloadedMs
    }
    try {
      // Nothing else in the object may delay a revocation.
      if (!key.spec.revoked) refuseDelivery(key)
      await this.#settle(key)
      const deliveryEndsMs = await this.#endDelivery(key)
      await this.#writeStatus(key, withoutFeeds(key, this.#keys.missing(key)))
      return earliest(deliveryEndsMs, expiresInMs(this.#keys.of(key), this.#deps.clock.utcMs()))
    } catch (cause) {
      const blocked = notReadyOf(cause)
      if (blocked !== undefined) {
        await this.#writeStatus(key, blocked)
        return undefined
      }
      await this.#writeUnavailable(key)
      throw cause
    }
  }

  prune(): void {
    const all = this.#deps.caches.apikeys.all()
    this.#statuses.retain(all)
    retain(this.#settled, all)
  }

  /** Skips the steps while nothing changed since a reconcile that had nothing to do. */
  async #settle(key: ApiKeyObject): Promise<void> {
    const { uid = '' } = key.metadata
    const from = key.spec.keyFrom?.secretKeyRef.name
    // No cache contains the user's Secrets.
    const own = from === undefined ? undefined : await this.#deps.api.get<Secret>(resources.secrets, from)
    const ownVersion = own?.metadata.resourceVersion
    const marks = this.#marks(key, ownVersion)
    if (this.#settled.get(uid) === marks) return
    const hasChanged = key.spec.revoked ? await this.#keys.revoke(key) : await this.#takeSteps(key)
    await this.#writePolicy(key)
    if (hasChanged || this.#marks(key, ownVersion) !== marks) this.#settled.delete(uid)
    else this.#settled.set(uid, marks)
  }

  #marks(key: ApiKeyObject, ownVersion: string | undefined): string {
    const { caches, registry } = this.#deps
    const { name, generation } = key.metadata
    const versions = [digestName(name), deliveryName(key)].map(
      (each) => caches.secrets.get(each)?.metadata.resourceVersion,
    )
    const { version } = registry.keys.get(name) ?? {}
    return JSON.stringify([generation, version, ownVersion, this.#keys.missing(key), ...versions])
  }

  /** Takes all steps. Returns whether any step changed something. */
  async #takeSteps(key: ApiKeyObject): Promise<boolean> {
    const { api, registry, clock } = this.#deps
    const { name } = key.metadata
    const overlapMs = overlapOf(key)
    let isRefused = false
    for (let steps = 0; steps < stepsMax; steps++) {
      // Read before the digest, because the digest is written before the registry.
      const { issue: registryIssue = 0, oldSecrets = 0, state = 'inactive' } = registry.keys.get(name) ?? {}
      const digest = await api.get<Secret>(resources.secrets, digestName(name))
      refuseForeignSecret(digest, name)
      const had = digestIn(digest)
      // A suspended key needs its secret again.
      const present = state === 'inactive' ? undefined : had
      const { ownSecret, delivery } = await this.#readSecret(key).catch((cause: unknown) =>
        this.#putWithoutSecret(key, present, cause),
      )
      const step = planKey(
        {
          ...(await this.#wanted(key, had)),
          overlapMs,
          ownSecret,
          delivery: deliveryIn(delivery),
          digest: had,
          registryIssue,
          oldSecrets,
          isRefused,
          nowMs: clock.utcMs(),
        },
        sha256,
      )
      if (step.do === 'wait') return this.#putWithoutSecret(key, had, new NotReady('Refused', fullMessage))
      if (step.do === 'deliver') {
        // Clients must not get a secret that an invalid spec keeps out of the registry.
        if (present) await this.#keys.putSpec(key, present)
        const made = { issue: step.issue, secret: `fxd_${clock.randomHex(secretBytes)}` }
        await this.#write(deliverySecret(key, made, { existing: delivery, nowMs: clock.utcMs() }), delivery)
      } else if (step.do === 'store') {
        // The user's Secret is the lasting copy. A secret that the registry refuses must not replace the digest.
        if (ownSecret !== undefined)
          await this.#keys
            .putSpec(key, step.digest)
            .catch((cause: unknown) => this.#putWithoutSecret(key, present, cause))
        await this.#write(digestSecret(key, step.digest, digest), digest)
        isRefused = false
        this.#recordChange(key, had, step.digest)
      } else {
        const outcome = await this.#keys.put(key, step.digest)
        if (outcome === 'stored') return steps > 0
        isRefused = outcome === 'refused'
      }
    }
    throw new Error(`${name} does not match its spec after ${stepsMax} steps`)
  }

  /** Applies the spec without a new secret, such as fewer feeds or addresses. Then throws why there is none. */
  async #putWithoutSecret(key: ApiKeyObject, digest: Digest | undefined, why: unknown): Promise<never> {
    if (notReadyOf(why) && digest) await this.#keys.put(key, digest)
    throw why
  }

  /**
   * The object's issue, and where its secret is delivered. The digest may belong to an earlier object of this name, so
   * a lower issue is a change too. The cache may be old, so a change counts once the API server confirms it. Until
   * then the digest's values are used.
   */
  async #wanted(key: ApiKeyObject, digest: Digest | undefined): Promise<Wanted> {
    const wanted = wantedOf(key)
    if (digest === undefined) return wanted
    const had = { specIssue: digest.specIssue, deliveredTo: digest.deliveredTo }
    if (isDeepStrictEqual(wanted, had)) return wanted
    const now = await this.#deps.api.get<ApiKeyObject>(resources.apikeys, key.metadata.name)
    const isCurrent = now?.metadata.uid === key.metadata.uid
    return isCurrent && now && isDeepStrictEqual(wantedOf(now), wanted) ? wanted : had
  }

  #recordChange(key: ApiKeyObject, was: Digest | undefined, now: Digest): void {
    const { keyFrom } = key.spec
    if (keyFrom === undefined || was === undefined || was.sha256 === now.sha256) return
    const note = `The Secret ${keyFrom.secretKeyRef.name} has another key: ${now.prefix}… replaces ${was.prefix}….`
    const { kind } = resources.apikeys
    this.#deps.events.record(kind, key, { type: 'Normal', reason: 'SecretChanged', action: 'Rotate', note })
  }

  /** The user's own secret, or the Secret that delivers a made one. Throws `NotReady` when it cannot be used. */
  async #readSecret(key: ApiKeyObject): Promise<{ ownSecret?: string; delivery?: Secret }> {
    const { api } = this.#deps
    const from = key.spec.keyFrom?.secretKeyRef
    if (from !== undefined)
      return { ownSecret: ownSecretIn(await api.get<Secret>(resources.secrets, from.name), from) }
    const delivery = await api.get<Secret>(resources.secrets, deliveryName(key))
    refuseForeignSecret(delivery, key.metadata.name)
    return delivery ? { delivery } : {}
  }

  /** Rejects when the Secret changed since it was read. */
  #write(secret: Secret, existing: Secret | undefined): Promise<Secret> {
    const { api } = this.#deps
    const { secrets } = resources
    return existing === undefined ? api.create(secrets, secret) : api.replace(secrets, secret)
  }

  /** A change of the policy alone stores no digest. */
  async #writePolicy(key: ApiKeyObject): Promise<void> {
    const digest = this.#deps.caches.secrets.get(digestName(key.metadata.name))
    const wanted = digest && withPolicy(key, digest)
    if (wanted !== digest && wanted) await this.#write(wanted, digest)
  }

  /** Deletes the delivered Secret after `deleteAfter`. Returns the milliseconds until then. */
  async #endDelivery(key: ApiKeyObject): Promise<number | undefined> {
    const { api, caches, clock } = this.#deps
    const lifeMs = durationMs(key.spec.delivery?.deleteAfter ?? '')
    const existing = caches.secrets.get(deliveryName(key))
    if (lifeMs === undefined || existing === undefined || key.spec.keyFrom !== undefined) return undefined
    refuseForeignSecret(existing, key.metadata.name)
    const leftMs = deliveredAt(existing) + lifeMs - clock.utcMs()
    if (leftMs > 0) return leftMs
    // The preconditions protect a newer key, which a rotation may have written since.
    const { uid, resourceVersion } = existing.metadata
    await api.delete(resources.secrets, existing.metadata.name, { uid, resourceVersion })
    return undefined
  }

  async #writeStatus(key: ApiKeyObject, blocked: NotReady | undefined): Promise<void> {
    await this.#statuses.write(
      key,
      keyStatusOf({
        key,
        registered: this.#keys.of(key),
        secretName: this.#secretName(key),
        blocked,
        held: this.#deps.held('apikeys'),
        nowMs: this.#deps.clock.utcMs(),
      }),
    )
  }

  /** A ready key stays ready while ingest is unavailable: clients can still use it until it expires. */
  async #writeUnavailable(key: ApiKeyObject, why = unavailable): Promise<void> {
    const isCurrent = key.status?.observedGeneration === key.metadata.generation
    if (isCurrent && isExpired(this.#keys.of(key), this.#deps.clock.utcMs()))
      return this.#writeStatus(key, undefined)
    if (isCurrent && readyOf(key.status?.conditions)?.status === 'True') return
    await this.#writeStatus(key, why)
  }

  #secretName(key: ApiKeyObject): string | undefined {
    const { keyFrom } = key.spec
    if (keyFrom) return keyFrom.secretKeyRef.name
    const name = deliveryName(key)
    return this.#deps.caches.secrets.get(name) && name
  }
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const some = times.filter((each) => each !== undefined)
  return some.length === 0 ? undefined : Math.min(...some)
}

const wantedOf = (key: ApiKeyObject): Wanted => ({
  specIssue: key.spec.issue ?? 1,
  deliveredTo: key.spec.keyFrom === undefined ? deliveryName(key) : '',
})

function overlapOf({ spec }: ApiKeyObject): number {
  const overlapMs = durationMs(spec.overlap ?? overlapDefault)
  if (overlapMs !== undefined && overlapMs <= overlapMsMax) return overlapMs
  throw new NotReady('Invalid', `overlap: got ${spec.overlap}, wanted at most 90d`)
}

function withoutFeeds({ spec }: ApiKeyObject, missing: readonly string[]): NotReady | undefined {
  if (missing.length === 0 || spec.revoked) return undefined
  return new NotReady(
    'FeedsMissing',
    `The key grants nothing for ${missing.join(', ')}: no such feed is registered. Create the Feed or correct spec.feeds.`,
  )
}
