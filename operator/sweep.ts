import type { ServiceError } from '@grpc/grpc-js'
import { OutageLog } from '../services/platform/outage-log.ts'
import { NotLeading, type SharedDeps } from './controller.ts'
import { feedKeyOf } from './feed/objects.ts'
import { GoneSince } from './gone-since.ts'
import { deletableKeys, secretsOf } from './key/secrets.ts'
import { entriesOf } from './kube/caches.ts'
import { leaseName } from './kube/elector.ts'
import { type ApiKeyObject, type FeedObject, group, resources } from './kube/resources.ts'
import { allowedOf, MassDeletion, withoutKind } from './mass-deletion.ts'
import type { RegisteredKind } from './routes.ts'
import { keepStoreIdentity } from './store-identity.ts'

/** Interval of reads of the registry; then all feeds and keys are reconciled again. */
const sweepEveryMs = 15_000
/** Delay before a removal, so that objects deleted together count together and a slow cache does no harm. */
const goneForMs = 5_000
/** The same for keys: a deletion must close sockets as fast as a revocation. */
const keysGoneForMs = 1_000
/** Minimum interval of rounds. */
const soonMs = 1_000
/** Annotation of the Lease with the allowed number of removals per kind. */
const allowAnnotation = `${group}/allow-mass-deletion`

interface OwnedItem {
  readonly id: string
  readonly owner: string
}

interface Owned {
  readonly owned: readonly OwnedItem[]
  /** Identities of the objects in the cache. */
  readonly known: ReadonlySet<string>
  /** Reads the identities from the API server, because after a lost watch the cache is old. */
  readonly list: () => Promise<ReadonlySet<string>>
  readonly remove: (item: OwnedItem) => Promise<unknown>
}

export interface SweepDeps extends SharedDeps {
  readonly isLeader: () => boolean
  readonly annotations: () => Readonly<Record<string, string>>
  readonly annotate: (name: string, value: string | undefined) => void
  /** Called after each read of this list of the registry, also one that failed. */
  readonly hasRead: (kind: RegisteredKind) => void
  /** Asks ingest for the state of store and bus. Never rejects. */
  readonly readStores: () => Promise<void>
}

/** Removes feeds and suspends keys of deleted objects: only while all caches are in sync, and within `MassDeletion`. */
export class Sweep {
  readonly #deps: SweepDeps
  readonly #ending = new AbortController()
  readonly #running: Promise<void>
  #pause = new AbortController()
  /** Whether the keys could not be read in the last round. Their list needs no store. */
  #isSilent = false
  readonly #held: Record<RegisteredKind, number> = { feeds: 0, apikeys: 0 }
  readonly #outages: Readonly<Record<RegisteredKind, OutageLog>>
  readonly #guards = { feeds: new MassDeletion(), apikeys: new MassDeletion() }
  readonly #gone = { feeds: new GoneSince(), apikeys: new GoneSince(), secrets: new GoneSince() }

  constructor(deps: SweepDeps) {
    this.#deps = deps
    const outageOf = (kind: RegisteredKind): OutageLog => new OutageLog({ ...deps, about: { kind } })
    this.#outages = { feeds: outageOf('feeds'), apikeys: outageOf('apikeys') }
    this.#running = this.#run()
  }

  held(kind: RegisteredKind): number {
    return this.#held[kind]
  }

  soon(): void {
    this.#pause.abort()
  }

  keyDeleted(name: string): void {
    this.#gone.apikeys.record(name, this.#deps.clock.monotonicMs())
    this.soon()
  }

  async close(): Promise<void> {
    this.#ending.abort()
    this.#pause.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, isLeader } = this.#deps
    while (!this.#ending.signal.aborted) {
      this.#pause = new AbortController()
      if (isLeader()) await this.#round()
      else this.#forget()
      if (this.#isSilent && isLeader()) await this.#untilAnswer()
      else await clock.sleep(this.#pauseMs(), this.#pause.signal)
      if (!this.#isSilent) await clock.sleep(soonMs, this.#ending.signal)
    }
  }

  /** Asks a silent ingest every second, so that a round follows immediately when it answers again. */
  async #untilAnswer(): Promise<void> {
    const { clock, registry } = this.#deps
    const endMs = clock.monotonicMs() + sweepEveryMs
    const fails = (): Promise<boolean> =>
      registry.keys.refresh().then(
        () => false,
        () => true,
      )
    do await clock.sleep(soonMs, this.#ending.signal)
    while (!this.#pause.signal.aborted && clock.monotonicMs() < endMs && (await fails()))
  }

  /** The shortest delay that an item waits for; the minimum interval of rounds follows. */
  #pauseMs(): number {
    const { feeds, apikeys, secrets } = this.#gone
    if (apikeys.isWaiting) return 0
    return feeds.isWaiting || secrets.isWaiting ? goneForMs : sweepEveryMs
  }

  /** Reads and removes feeds and keys separately: a failure of one does not stop the other. */
  async #round(): Promise<void> {
    const { registry } = this.#deps
    const [hasFeeds, hasKeys] = await Promise.all([
      this.#read('feeds', () => registry.feeds.refresh()),
      this.#read('apikeys', () => registry.keys.refresh()),
      this.#deps.readStores(),
    ])
    this.#isSilent = !hasKeys
    if (entriesOf(this.#deps.caches).some(([, cache]) => !cache.isSynced)) return this.#startDelaysAgain()
    if (hasFeeds) {
      await this.#attempt('keep the identity of the store', () =>
        keepStoreIdentity(this.#deps, registry.storeIdentity),
      )
      await this.#attempt('remove feeds without objects', () => this.#removeFeeds())
    }
    if (!hasKeys) return
    await this.#attempt('suspend keys without objects', () => this.#suspendKeys())
    await this.#attempt('delete Secrets of keys without objects', () => this.#deleteSecrets())
  }

  /** The leader reports what is held. */
  #forget(): void {
    this.#startDelaysAgain()
    this.#isSilent = false
    Object.assign(this.#held, { feeds: 0, apikeys: 0 })
  }

  /** After a time without a sweep all delays begin again: the objects may have existed in that time. */
  #startDelaysAgain(): void {
    for (const gone of Object.values(this.#gone)) gone.clear()
  }

  async #read(kind: RegisteredKind, refresh: () => Promise<void>): Promise<boolean> {
    const outage = this.#outages[kind]
    try {
      await refresh()
      outage.worked('registry of ingest available again')
      return true
    } catch (cause) {
      // Texts of gRPC contain addresses and times, its codes do not.
      const reason = String((cause as ServiceError).code)
      outage.failed({ text: 'registry of ingest unavailable; retrying', cause, reason })
      return false
    } finally {
      this.#deps.hasRead(kind)
    }
  }

  async #attempt(action: string, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (cause) {
      // The elector logs the loss of the Lease.
      if (cause instanceof NotLeading) return
      this.#deps.log.warn({ err: cause, action, retryInMs: sweepEveryMs }, 'sweep failed; retrying')
    }
  }

  /** Does not remove a feed whose key another Feed has: that Feed takes it over. */
  #removeFeeds(): Promise<void> {
    const { api, caches, registry } = this.#deps
    const owned = [...registry.feeds.values()].filter(
      ({ owner, hidden }) => owner !== '' && owner !== 'operator' && !hidden,
    )
    return this.#removeGone('feeds', {
      owned: owned.map(({ key, owner }) => ({ id: key, owner })),
      known: new Set(caches.feeds.all().map(feedKeyOf)),
      list: async () => new Set((await api.list<FeedObject>(resources.feeds)).items.map(feedKeyOf)),
      remove: ({ id, owner }) => registry.removeFeed(id, owner),
    })
  }

  #suspendKeys(): Promise<void> {
    const { caches, registry } = this.#deps
    return this.#removeGone('apikeys', {
      owned: [...registry.keys.values()].filter(({ owner, state }) => owner !== '' && state !== 'inactive'),
      known: namesOf(caches.apikeys.all()),
      list: () => this.#keyNames(),
      remove: ({ id, owner }) => registry.suspendKey(id, owner),
    })
  }

  async #removeGone(kind: RegisteredKind, { owned, known, list, remove }: Owned): Promise<void> {
    const { clock } = this.#deps
    const gone = owned.filter(({ id }) => !known.has(id))
    const removable = this.#allowed(kind, gone, owned.length)
    const forMs = kind === 'apikeys' ? keysGoneForMs : goneForMs
    const long = this.#gone[kind].longGone(removable, ({ id }) => id, { nowMs: clock.monotonicMs(), forMs })
    if (long.length === 0) return
    const listed = await list()
    for (const item of long) {
      if (listed.has(item.id)) continue
      await remove(item)
      this.#guards[kind].removed(item.id, clock.monotonicMs())
    }
  }

  /** A key that is still active is not suspended yet, perhaps because its removal is held. */
  async #deleteSecrets(): Promise<void> {
    const { api, caches, registry, clock } = this.#deps
    const secrets = caches.secrets.all()
    const known = namesOf(caches.apikeys.all())
    const leftover = deletableKeys(secrets).filter(
      (name) => !known.has(name) && (registry.keys.get(name)?.state ?? 'inactive') === 'inactive',
    )
    const gone = this.#gone.secrets.longGone(leftover, (name) => name, {
      nowMs: clock.monotonicMs(),
      forMs: goneForMs,
    })
    if (this.#held.apikeys > 0 || gone.length === 0) return
    const now = await this.#keyNames()
    for (const { metadata } of gone
      .filter((name) => !now.has(name))
      .flatMap((name) => secretsOf(name, secrets)))
      await api.delete(resources.secrets, metadata.name, { uid: metadata.uid })
  }

  async #keyNames(): Promise<ReadonlySet<string>> {
    return namesOf((await this.#deps.api.list<ApiKeyObject>(resources.apikeys)).items)
  }

  #allowed(kind: RegisteredKind, gone: readonly OwnedItem[], total: number): readonly OwnedItem[] {
    const { annotations, annotate, clock, log } = this.#deps
    const text = annotations()[allowAnnotation]
    const ids = gone.map(({ id }) => id)
    const allowed = allowedOf(text, kind)
    const look = { total, allowed, nowMs: clock.monotonicMs() }
    const { removable, isUsed } = this.#guards[kind].decide(ids, look)
    const held = gone.length - removable.size
    // A permission ends when it was used or when nothing is held. Otherwise it would allow a later deletion.
    if (isUsed || (allowed !== undefined && held === 0)) {
      log.info({ kind, allowed, isUsed }, 'permission for mass deletion removed: used, or nothing is held')
      annotate(allowAnnotation, withoutKind(text ?? '', kind))
    }
    if (held > 0) this.#recordHeld(kind, held, total)
    this.#held[kind] = held
    return gone.filter(({ id }) => removable.has(id))
  }

  #recordHeld(kind: RegisteredKind, held: number, total: number): void {
    const { events, log } = this.#deps
    const note =
      `${held} of ${total} ${kind} in the registry have no object and were kept. If the objects were deleted on purpose, ` +
      `annotate the Lease ${leaseName} with ${allowAnnotation}="${held} ${kind}".`
    const lease = { apiVersion: 'coordination.k8s.io/v1', metadata: { name: leaseName } }
    events.record('Lease', lease, { type: 'Warning', reason: 'DeletionHeld', action: 'Remove', note })
    if (this.#held[kind] !== held)
      log.error({ kind, held, total, why: note }, 'mass deletion held: objects are missing')
  }
}

const namesOf = (keys: readonly ApiKeyObject[]): ReadonlySet<string> =>
  new Set(keys.map(({ metadata }) => metadata.name))
