import { status as grpcStatus, type ServiceError } from '@grpc/grpc-js'
import type { Key__Output } from '../../services/wire/gen/fxd/v1/Key.ts'
import type { RequestOf } from '../../services/wire/unary-client.ts'
import type { ControllerDeps } from '../controller.ts'
import { NotReady } from '../kube/not-ready.ts'
import type { ApiKeyObject } from '../kube/resources.ts'
import type { Digest } from './plan.ts'

type RegisteredKeysDeps = Pick<ControllerDeps, 'caches' | 'registry'>

export class RegisteredKeys {
  readonly #deps: RegisteredKeysDeps

  constructor(deps: RegisteredKeysDeps) {
    this.#deps = deps
  }

  /** Feeds of the key that the registry lacks. Empty when it lacks all of them or was never read. */
  missing({ metadata, spec }: ApiKeyObject): readonly string[] {
    const { feeds, keys } = this.#deps.registry
    if (!feeds.isLoaded) return []
    const had = keys.get(metadata.name)?.feeds ?? []
    const missing = spec.feeds.filter((feed) => (feeds.get(feed)?.hidden ?? true) && !had.includes(feed))
    return missing.length < spec.feeds.length ? missing : []
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
      await this.#putKnown({
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

  /** Puts the key. Rejects if the spec is invalid. Unknown feeds are not a failure, since they may be registered later. */
  async putSpec(key: ApiKeyObject, digest: Digest): Promise<void> {
    try {
      await this.put(key, digest)
    } catch (cause) {
      if ((cause as ServiceError).code !== grpcStatus.NOT_FOUND) throw cause
    }
  }

  /** If ingest does not know one of the feeds, puts the key with the feeds that it has and still wants, and rejects. */
  async #putKnown(request: RequestOf<'PutKey'>): Promise<void> {
    const { registry } = this.#deps
    try {
      await registry.putKey(request)
    } catch (cause) {
      if ((cause as ServiceError).code !== grpcStatus.NOT_FOUND) throw cause
      const had = registry.keys.get(request.id ?? '')?.feeds ?? []
      const kept = request.feeds?.filter((feed) => had.includes(feed)) ?? []
      await registry.putKey({ ...request, feeds: kept })
      throw cause
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
