import { status as grpcStatus, type ServiceError } from '@grpc/grpc-js'
import type { Key__Output } from '../../services/wire/gen/fxd/v1/Key.ts'
import type { ControllerDeps } from '../controller.ts'
import { NotReady } from '../kube/not-ready.ts'
import type { ApiKeyObject } from '../kube/resources.ts'
import type { Digest } from './plan.ts'

type RegisteredKeysDeps = Pick<ControllerDeps, 'caches' | 'registry'>

/** The keys of ApiKeys in the registry. */
export class RegisteredKeys {
  readonly #deps: RegisteredKeysDeps

  constructor(deps: RegisteredKeysDeps) {
    this.#deps = deps
  }

  /** Feeds of the key that the registry lacks. Empty when it lacks all of them or was never read. */
  missing(key: ApiKeyObject): readonly string[] {
    const lacking = this.#lacking(key)
    return lacking.length < key.spec.feeds.length ? lacking : []
  }

  /**
   * Suspends a key of this object whose feeds are all unknown now: it must not keep the feeds that it had before.
   * Then throws `NotReady`, so that no new secret is delivered, which the registry would refuse.
   */
  async suspendWithoutFeeds(key: ApiKeyObject): Promise<void> {
    const registered = this.of(key)
    if (registered === undefined || this.#lacking(key).length < key.spec.feeds.length) return
    if (registered.state === 'active') await this.#deps.registry.suspendKey(registered.id, registered.owner)
    const feeds = key.spec.feeds.join(', ')
    throw new NotReady(
      'FeedUnknown',
      `The key is suspended, because none of its feeds is registered: ${feeds}. Create the Feed or correct spec.feeds.`,
    )
  }

  /**
   * `moved`: the record changed since it was read, and was read again.
   * `refused`: the registry has this issue or a later one with another secret.
   */
  async put(key: ApiKeyObject, digest: Digest): Promise<'stored' | 'moved' | 'refused'> {
    const { registry } = this.#deps
    const { name, uid = '' } = key.metadata
    const basedOn = registry.keys.get(name)?.version ?? 0
    const { plan, feeds, limits, allowIps = [], expires = '' } = key.spec
    const missing = this.missing(key)
    try {
      await registry.putKey({
        id: name,
        owner: uid,
        issue: digest.issue,
        sha256: Buffer.from(digest.sha256, 'hex'),
        prefix: digest.prefix,
        name,
        plan,
        feeds: feeds.filter((feed) => !missing.includes(feed)),
        ...(limits && { limits }),
        allowIps: [...allowIps],
        expires,
        oldUntil: digest.oldUntilMs,
        previousOwner: this.#goneOwner(name, uid),
        basedOn,
      })
      return 'stored'
    } catch (cause) {
      if ((cause as ServiceError).code !== grpcStatus.ABORTED) throw cause
      await registry.keys.refresh()
      return (registry.keys.get(name)?.version ?? 0) === basedOn ? 'refused' : 'moved'
    }
  }

  /** Returns whether this changed the registry. */
  async revoke(key: ApiKeyObject): Promise<boolean> {
    const { registry } = this.#deps
    const { name, uid = '' } = key.metadata
    const existing = registry.keys.get(name)
    if (existing === undefined) return false
    if (existing.owner !== uid && this.#goneOwner(name, uid) === '') {
      const owner = existing.owner === '' ? '"fxd keys"' : `the ApiKey object with the UID ${existing.owner}`
      throw new NotReady('Refused', `The key ${name} belongs to ${owner}; give this object another name.`)
    }
    const { version } = await registry.revokeKey(name)
    return version !== existing.version
  }

  #lacking({ metadata, spec }: ApiKeyObject): readonly string[] {
    const { feeds, keys } = this.#deps.registry
    if (!feeds.isLoaded) return []
    const had = keys.get(metadata.name)?.feeds ?? []
    return spec.feeds.filter((feed) => (feeds.get(feed)?.hidden ?? true) && !had.includes(feed))
  }

  /** The key of this object; `undefined` when the registry lacks it or another owner has it. */
  of(key: ApiKeyObject): Key__Output | undefined {
    const found = this.#deps.registry.keys.get(key.metadata.name)
    return found?.owner === key.metadata.uid ? found : undefined
  }

  /** UID of the deleted object that still owns the key; '' when there is none. */
  #goneOwner(id: string, uid: string): string {
    const owner = this.#deps.registry.keys.get(id)?.owner ?? ''
    const isThere = this.#deps.caches.apikeys.all().some(({ metadata }) => metadata.uid === owner)
    return owner === uid || isThere ? '' : owner
  }
}
