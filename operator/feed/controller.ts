import { newTerminalToken } from '../../services/platform/credentials/terminal-token.ts'
import type { Feed__Output } from '../../services/wire/gen/fxd/v1/Feed.ts'
import { type Controller, type ControllerDeps, unavailable, unloadedMs } from '../controller.ts'
import { applyOwned, ownerOf } from '../kube/apply-owned.ts'
import { readyOf } from '../kube/condition.ts'
import type { FeedStatus } from '../kube/kinds.ts'
import { blockedOf, NotReady, notReadyOf } from '../kube/not-ready.ts'
import { type KubeObject, type Resource, retain } from '../kube/object.ts'
import { type FeedObject, resources, type Workload } from '../kube/resources.ts'
import { StatusWriter } from '../kube/status-writer.ts'
import { holderOf } from './holder.ts'
import {
  collectorNames,
  collectorSet,
  feedKeyOf,
  manifestMap,
  manifestOf,
  type PodTemplate,
} from './objects.ts'
import { feedStatusOf } from './status.ts'
import {
  isTerminal,
  terminalAddresses,
  terminalNames,
  terminalSecret,
  terminalServices,
  withEndpoint,
} from './terminal.ts'
import { needsRenewal, signingKeyOf, tokenExpiry, tokenLife, tokenSecret } from './token.ts'

/** Minimum interval of writes for the newest bar alone: with 16 s between reads it is at most a minute old. */
const newestBarEveryMs = 30_000

interface FeedControllerDeps extends ControllerDeps {
  /** Pod template of collectors; `undefined`: this operator makes no collectors. */
  readonly template: PodTemplate | undefined
  /** Called after a feed was added to the registry: keys may wait for it. */
  readonly registered: () => void
}

/** The manifest applied last, and the registry's version of it. */
interface Applied {
  readonly manifest: string
  readonly version: number
}

/** Reconciles a Feed: registers it, renews its token and makes the pods that collect it. */
export class FeedController implements Controller {
  readonly #deps: FeedControllerDeps
  readonly #statuses: StatusWriter<FeedStatus>
  readonly #applied = new Map<string, Applied>()

  constructor(deps: FeedControllerDeps) {
    this.#deps = deps
    const frequent = ['newestBar'] as const
    const [routine, starting] = [['CollectorRestarting'], ['CollectorStarting']]
    const options = { frequent, everyMs: newestBarEveryMs, routine, starting }
    this.#statuses = new StatusWriter<FeedStatus>(resources.feeds, options, deps)
  }

  async reconcile(name: string, failingMs = 0): Promise<number | undefined> {
    const feed = this.#deps.caches.feeds.get(name)
    if (feed === undefined || feed.metadata.deletionTimestamp !== undefined) return undefined
    const { isLoaded, failure } = this.#deps.registry.feeds
    if (!isLoaded) {
      await this.#writeUnavailable(feed, failure)
      return unloadedMs
    }
    try {
      await this.#reconcileFeed(feed)
    } catch (cause) {
      const blocked = blockedOf(cause, feed, failingMs)
      if (blocked === undefined) await this.#writeUnavailable(feed)
      else await this.#writeStatus(feed, blocked)
      if (notReadyOf(cause) === undefined) throw cause
    }
    return undefined
  }

  prune(): void {
    const all = this.#deps.caches.feeds.all()
    this.#statuses.retain(all)
    retain(this.#applied, all)
  }

  async #reconcileFeed(feed: FeedObject): Promise<void> {
    const { caches, registry } = this.#deps
    const { owner, hidden = true } = registry.feeds.get(feedKeyOf(feed)) ?? {}
    refuseSecond(feed, caches.feeds.all(), owner)
    try {
      await this.#register(feed)
    } catch (cause) {
      // Its collectors keep running while the registry rejects a change of its manifest.
      if (owner === feed.metadata.uid && !hidden) await this.#renewToken(feed)
      throw cause
    }
    await this.#renewToken(feed)
    if (!isTerminal(feed)) await this.#withoutTerminal(feed)
    if (feed.spec.source.type !== 'Push') return this.#writeStatus(feed, undefined, await this.#collect(feed))
    await this.#withoutPods(feed)
    await this.#writeStatus(feed, undefined)
  }

  /** Applies the manifest to the registry, unless the registry has it already. */
  async #register(feed: FeedObject): Promise<void> {
    const { registry, caches, registered } = this.#deps
    const { uid = '' } = feed.metadata
    const manifest = manifestOf(feed)
    const existing = registry.feeds.get(feedKeyOf(feed))
    const last = this.#applied.get(uid)
    const isSame = last?.manifest === manifest && last.version === existing?.version
    if (isSame && existing?.owner === uid && !existing.hidden) return
    const owners = new Set(caches.feeds.all().map(({ metadata }) => metadata.uid))
    const isGone = existing !== undefined && existing.owner !== '' && !owners.has(existing.owner)
    const { version } = await registry.applyFeed({
      manifestJson: manifest,
      uid,
      basedOn: 0,
      previousUid: isGone && existing.owner !== 'operator' ? existing.owner : '',
    })
    this.#applied.set(uid, { manifest, version })
    if (existing === undefined || existing.hidden) registered()
  }

  async #renewToken(feed: FeedObject): Promise<void> {
    const { api, caches, registry, clock } = this.#deps
    const existing = caches.secrets.get(collectorNames(feed.metadata.name).token)
    const isAccepted = registry.accepts(signingKeyOf(existing))
    if (isAccepted && !needsRenewal(tokenExpiry(existing, feed), clock.utcMs())) return
    const issued = await registry.issueFeedToken(feedKeyOf(feed), tokenLife)
    const place = { api, of: resources.secrets, existing, owner: ownerOf(resources.feeds, feed) }
    await applyOwned(place, () => tokenSecret(feed, issued))
  }

  async #collect(feed: FeedObject): Promise<Workload> {
    const { api, caches, template } = this.#deps
    if (template === undefined)
      throw new NotReady(
        'NoCollectorTemplate',
        'The operator creates no collectors: set its FXD_COLLECTOR_TEMPLATE.',
      )
    const { type, path, volumeClaim } = feed.spec.source
    // Optional in the CRD, because `fxd all` needs no claim. A collector pod has no other volume of exports.
    if (type === 'Mt5Csv' && volumeClaim === undefined)
      throw new NotReady(
        'Invalid',
        'spec.source.volumeClaim is needed on Kubernetes: the PersistentVolumeClaim that has the exports.',
      )
    if (volumeClaim !== undefined && path?.split('/').includes('..'))
      throw new NotReady(
        'Invalid',
        `spec.source.path: got ${path}, wanted a path within its volume, without '..'`,
      )
    const names = collectorNames(feed.metadata.name)
    const owner = ownerOf(resources.feeds, feed)
    const { configmaps, statefulsets } = resources
    await applyOwned({ api, of: configmaps, existing: caches.configmaps.get(names.manifest), owner }, () =>
      manifestMap(feed),
    )
    const pods = isTerminal(feed) ? await this.#serveTerminal(feed, template) : template
    const place = { api, of: statefulsets, existing: caches.statefulsets.get(names.set), owner }
    const set = await applyOwned(place, () => collectorSet(feed, pods))
    if (volumeClaim !== undefined && !set.status?.readyReplicas) await this.#refuseMissing(volumeClaim)
    return set
  }

  /** Makes the token and the Services of the collectors. Returns the pod template with an endpoint for the terminal. */
  async #serveTerminal(feed: FeedObject, template: PodTemplate): Promise<PodTemplate> {
    const { api, caches, clock } = this.#deps
    const { terminals } = template
    if (terminals === undefined)
      throw new NotReady(
        'TerminalsDisabled',
        'No endpoint for terminals is configured: set terminals.enabled in the values of the chart.',
      )
    const owner = ownerOf(resources.feeds, feed)
    const { secrets, services } = resources
    const existing = caches.secrets.get(terminalNames(feed.metadata.name).secret)
    const fresh = newTerminalToken((bytes) => clock.randomHex(bytes))
    await applyOwned({ api, of: secrets, existing, owner }, (had) => terminalSecret(feed, had, fresh))
    for (const service of terminalServices(feed)) {
      const place = { api, of: services, existing: caches.services.get(service.metadata.name), owner }
      await applyOwned(place, () => service)
    }
    return withEndpoint(feed, template, terminals)
  }

  /** Deletes what only a feed with source Terminal has. */
  #withoutTerminal(feed: FeedObject): Promise<void> {
    const { secrets, services } = this.#deps.caches
    const names = terminalNames(feed.metadata.name)
    return this.#deleteOwned(feed, [
      [resources.secrets, secrets.get(names.secret)],
      ...names.services.map((name) => [resources.services, services.get(name)] as const),
    ])
  }

  /** Its pods would wait for the claim without a word on the Feed. They start as soon as it exists. */
  async #refuseMissing(claim: string): Promise<void> {
    if (await this.#deps.api.get(resources.persistentvolumeclaims, claim)) return
    throw new NotReady(
      'VolumeClaimMissing',
      `The PersistentVolumeClaim ${claim} of spec.source.volumeClaim does not exist; create it in the namespace of the Feed.`,
    )
  }

  /** Deletes the pods of a feed that became a Push feed. */
  #withoutPods(feed: FeedObject): Promise<void> {
    const { statefulsets, configmaps } = this.#deps.caches
    const names = collectorNames(feed.metadata.name)
    return this.#deleteOwned(feed, [
      [resources.statefulsets, statefulsets.get(names.set)],
      [resources.configmaps, configmaps.get(names.manifest)],
    ])
  }

  async #deleteOwned(
    { metadata: { uid: owner = '' } }: FeedObject,
    objects: readonly (readonly [Resource, KubeObject | undefined])[],
  ): Promise<void> {
    for (const [of, object] of objects)
      if (object?.metadata.ownerReferences?.some(({ uid }) => uid === owner))
        await this.#deps.api.delete(of, object.metadata.name, { uid: object.metadata.uid })
  }

  /** `collectors` is the API server's last answer: the cache may not show the change yet. */
  async #writeStatus(
    feed: FeedObject,
    blocked: NotReady | undefined,
    collectors = this.#deps.caches.statefulsets.get(collectorNames(feed.metadata.name).set),
  ): Promise<void> {
    const { caches, clock } = this.#deps
    const names = collectorNames(feed.metadata.name)
    const status = feedStatusOf({
      feed,
      registered: this.#registered(feed),
      isOutdated: this.#deps.registry.feeds.isOutdated,
      stores: this.#deps.registry.stores.outcomes,
      collectors,
      addresses: this.#addressesOf(feed),
      tokenExpires: tokenExpiry(caches.secrets.get(names.token), feed),
      blocked,
      held: this.#deps.held('feeds'),
      nowMs: clock.utcMs(),
    })
    await this.#statuses.write(feed, status)
  }

  /** Where its terminals post; none for other sources. */
  #addressesOf(feed: FeedObject): readonly string[] {
    const { terminals } = this.#deps.template ?? {}
    return terminals && isTerminal(feed) ? terminalAddresses(feed, terminals) : []
  }

  /** A ready feed stays ready during a short outage of ingest, since its collectors keep running. */
  async #writeUnavailable(feed: FeedObject, why = unavailable): Promise<void> {
    const { stores, feeds } = this.#deps.registry
    const { state, ...status } = feed.status ?? {}
    const isCurrent = status.observedGeneration === feed.metadata.generation
    const isReady = isCurrent && readyOf(status.conditions)?.status === 'True'
    const hasFault = Object.values(stores.outcomes ?? {}).some((each) => each.status !== 'True')
    if (!isReady || hasFault) await this.#writeStatus(feed, why)
    else if (state && feeds.isOutdated) await this.#statuses.write(feed, status)
  }

  #registered(feed: FeedObject): Feed__Output | undefined {
    const found = this.#deps.registry.feeds.get(feedKeyOf(feed))
    return found?.owner === feed.metadata.uid ? found : undefined
  }
}

function refuseSecond(feed: FeedObject, all: readonly FeedObject[], owner: string | undefined): void {
  const holder = holderOf(feedKeyOf(feed), all, owner)
  if (holder === undefined || holder.metadata.uid === feed.metadata.uid) return
  throw new NotReady(
    'DuplicateKey',
    `The Feed ${holder.metadata.name} has ${feedKeyOf(feed)} already; delete one of the two, or give this one another account.`,
  )
}
