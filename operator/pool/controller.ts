import type { Load__Output } from '../../services/wire/gen/fxd/v1/Load.ts'
import type { Controller, ControllerDeps } from '../controller.ts'
import { KubeError } from '../kube/api.ts'
import { applyOwned, ownerOf } from '../kube/apply-owned.ts'
import { timeOf } from '../kube/condition.ts'
import type { EventText } from '../kube/event-sink.ts'
import type { StreamPoolStatus } from '../kube/kinds.ts'
import { blockedOf, type NotReady, notReadyOf } from '../kube/not-ready.ts'
import { type KubeObject, retain } from '../kube/object.ts'
import { group, type Pod, type PoolObject, poolLabel, resources, type Workload } from '../kube/resources.ts'
import { isRollingOut, isUnseen } from '../kube/rollout.ts'
import { StatusWriter } from '../kube/status-writer.ts'
import { type FewerNeeded, planScale, type Scaling } from './autoscale.ts'
import { shardBudget, shardDeployment, shardService } from './objects.ts'
import { type Action, planPool, type Shard } from './plan.ts'
import type { ShardCalls } from './shards.ts'
import { type PoolFacts, poolStatusOf } from './status.ts'

const lookEveryMs = 10_000
/** Interval while shards drain or are about to end. */
const lookSoonMs = 2_000
/** Minimum interval of status writes that change only the load, which changes all the time. */
const loadEveryMs = 60_000

/** Missed answers in a row after which a running shard counts as lost. */
const missesMax = 3
/** Time after which a ready shard must have answered; it is asked every 10 s. */
const reachableWithinMs = 60_000

/** Maximum concurrent load calls; further shards wait. */
const callsAtOnce = 32

/** Kubernetes ends pods with a lower cost first. */
const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost'
const markedCost = '-1000'
const pauseAnnotation = `${group}/autoscale-paused`

interface PoolControllerDeps extends ControllerDeps {
  readonly calls: ShardCalls
  /** Called with the number of sockets that a drain closed around the end of a minute. */
  readonly forcedCloses: (count: number) => void
}

interface ObservedShard {
  readonly pod: Pod
  readonly load: Load__Output | undefined
  /** Missed answers in a row. */
  readonly misses: number
  /** Set when the shard rejected the operator's credentials. */
  readonly refused: NotReady | undefined
}

interface StatusFacts extends Pick<PoolFacts, 'deployment' | 'scaling' | 'blocked'> {
  readonly seen: readonly ObservedShard[]
}

/** Reconciles a StreamPool: a Deployment of shards that drain before they end. */
export class PoolController implements Controller {
  readonly #deps: PoolControllerDeps
  readonly #statuses: StatusWriter<StreamPoolStatus>
  readonly #fewerNeeded = new Map<string, FewerNeeded>()
  /** Missed answers in a row, by UID of the pod. */
  readonly #misses = new Map<string, number>()
  /** The last count of forced closes that a shard reported, by UID of its pod. */
  readonly #forced = new Map<string, number>()

  constructor(deps: PoolControllerDeps) {
    this.#deps = deps
    const frequent = ['connections', 'subscriptions'] as const
    const options = { frequent, everyMs: loadEveryMs, routine: ['RollingOut'], starting: ['ShardsNotReady'] }
    this.#statuses = new StatusWriter<StreamPoolStatus>(resources.streampools, options, deps)
  }

  async reconcile(name: string, failingMs = 0): Promise<number | undefined> {
    const pool = this.#deps.caches.streampools.get(name)
    if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) return undefined
    const seen = await this.#readLoads(name)
    for (const { pod, load } of seen) if (load) this.#countForced(pool, pod, load)
    try {
      const deployment = await this.#apply(pool)
      const scaling = await this.#autoscale(pool, seen)
      const actions = planPool(poolOf(pool, deployment, seen))
      let now = deployment
      for (const action of actions) now = (await this.#act(pool, seen, action)) ?? now
      const blocked = seen.find(({ refused }) => refused)?.refused
      await this.#writeStatus(pool, { seen, deployment: now, scaling, blocked })
      const isMoving = actions.length > 0 || (now.spec?.replicas ?? 0) !== pool.spec.replicas
      return isMoving ? lookSoonMs : lookEveryMs
    } catch (cause) {
      const blocked = blockedOf(cause, pool, failingMs)
      if (blocked === undefined) throw cause
      const deployment = this.#deps.caches.deployments.get(name)
      await this.#writeStatus(pool, { seen, deployment, scaling: undefined, blocked })
      if (notReadyOf(cause) === undefined) throw cause
      return lookEveryMs
    }
  }

  prune(): void {
    const { streampools, pods } = this.#deps.caches
    const pools = streampools.all()
    this.#statuses.retain(pools)
    retain(this.#fewerNeeded, pools)
    retain(this.#misses, pods.all())
    retain(this.#forced, pods.all())
  }

  /** Reads many loads concurrently, because a shard that does not answer uses its whole timeout. */
  async #readLoads(name: string): Promise<readonly ObservedShard[]> {
    const { caches } = this.#deps
    const pods = caches.pods.all().filter((pod) => isShardOf(pod, name))
    const seen: ObservedShard[] = []
    for (let at = 0; at < pods.length; at += callsAtOnce) {
      const some = pods.slice(at, at + callsAtOnce)
      seen.push(...(await Promise.all(some.map((pod) => this.#readLoad(pod)))))
    }
    return seen
  }

  async #readLoad(pod: Pod): Promise<ObservedShard> {
    const { uid = '' } = pod.metadata
    let refused: NotReady | undefined
    const load = await this.#deps.calls.load(pod).catch((cause: unknown) => {
      refused = notReadyOf(cause)
      if (refused === undefined) throw cause
      return undefined
    })
    const misses = load || refused ? 0 : (this.#misses.get(uid) ?? 0) + 1
    this.#misses.set(uid, misses)
    return { pod, load, misses, refused }
  }

  /** A shard ends soon after its drain, so Prometheus seldom reads the shard's own count. */
  #countForced(
    pool: PoolObject,
    { metadata: { name, uid = '' } }: Pod,
    { forcedCloses }: Load__Output,
  ): void {
    const count = forcedCloses - (this.#forced.get(uid) ?? forcedCloses)
    this.#forced.set(uid, forcedCloses)
    if (count <= 0) return
    this.#deps.forcedCloses(count)
    const why = 'because its drain ended there'
    const note = `The shard ${name} closed ${count} sockets between second 55 and 8 of a minute, ${why}.`
    this.#record(pool, { type: 'Warning', reason: 'DrainForced', action: 'Drain', note })
  }

  async #apply(pool: PoolObject): Promise<Workload> {
    const { api, caches } = this.#deps
    const { name } = pool.metadata
    const owner = ownerOf(resources.streampools, pool)
    const { services, poddisruptionbudgets, deployments } = resources
    await applyOwned({ api, of: services, existing: caches.services.get(name), owner }, () =>
      shardService(pool),
    )
    const budget = caches.poddisruptionbudgets.get(name)
    await applyOwned({ api, of: poddisruptionbudgets, existing: budget, owner }, () => shardBudget(pool))
    const existing = caches.deployments.get(name)
    // The plan changes the number of replicas, not this apply.
    const wanted = (now: Workload | undefined): Workload =>
      shardDeployment(pool, now?.spec?.replicas ?? pool.spec.replicas)
    return applyOwned({ api, of: deployments, existing, owner }, wanted)
  }

  /** Writes only `/scale`, as a person or another autoscaler does. */
  async #autoscale(pool: PoolObject, seen: readonly ObservedShard[]): Promise<Scaling | undefined> {
    const { autoscale, connectionsMax, replicas } = pool.spec
    const { uid = '' } = pool.metadata
    if (autoscale === undefined) return undefined
    const scaling = planScale({
      autoscale,
      connectionsMax,
      replicas,
      isPaused: pool.metadata.annotations?.[pauseAnnotation] === 'true',
      loads: seen.filter(hasStarted).map(({ load }) => load),
      fewerNeeded: this.#fewerNeeded.get(uid),
      nowMs: this.#deps.clock.monotonicMs(),
    })
    if (scaling.replicas !== replicas && !(await this.#scale(pool, scaling.replicas))) return scaling
    if (scaling.fewerNeeded) this.#fewerNeeded.set(uid, scaling.fewerNeeded)
    else this.#fewerNeeded.delete(uid)
    if (scaling.replicas === replicas) return scaling
    const note = `Scaled from ${replicas} to ${scaling.replicas} shards. ${scaling.message}`
    this.#record(pool, { type: 'Normal', reason: 'Scaled', action: 'Scale', note })
    return scaling
  }

  /** Returns `false` after a concurrent change of the pool, which the next reconcile sees. */
  async #scale(pool: PoolObject, replicas: number): Promise<boolean> {
    try {
      await this.#deps.api.scale(resources.streampools, pool, replicas)
      return true
    } catch (cause) {
      if (cause instanceof KubeError && cause.status === 409) return false
      throw cause
    }
  }

  async #act(
    pool: PoolObject,
    seen: readonly ObservedShard[],
    action: Action,
  ): Promise<Workload | undefined> {
    const { api, calls } = this.#deps
    const owner = ownerOf(resources.streampools, pool)
    if (action.do === 'resize') {
      const existing = this.#deps.caches.deployments.get(pool.metadata.name)
      const place = { api, of: resources.deployments, existing, owner }
      return applyOwned(place, () => shardDeployment(pool, action.replicas))
    }
    const pod = seen.find((each) => each.pod.metadata.name === action.shard)?.pod
    if (pod === undefined) return undefined
    if (action.do === 'mark') await mark(api, pod, action.isMarked)
    if (action.do === 'undrain') await calls.undrain(pod)
    if (action.do !== 'drain') return undefined
    await calls.drain(pod, action.seconds)
    const note = `The shard ${action.shard} closes its sockets within ${action.seconds} s and then ends.`
    this.#record(pool, { type: 'Normal', reason: 'Draining', action: 'Drain', note })
    return undefined
  }

  #record(pool: PoolObject, text: EventText): void {
    this.#deps.events.record(resources.streampools.kind, pool, text)
  }

  /** The Deployment is the API server's last answer: the cache may not show the change yet. */
  async #writeStatus(pool: PoolObject, { seen, ...facts }: StatusFacts): Promise<void> {
    const loads = seen.flatMap(({ load }) => load ?? [])
    const nowMs = this.#deps.clock.utcMs()
    const stores = this.#deps.registry.stores.outcomes
    const unreachable = seen.filter((each) => isUnreachable(each, nowMs)).length
    await this.#statuses.write(pool, poolStatusOf({ pool, loads, unreachable, stores, nowMs, ...facts }))
  }
}

/** Server-side apply of one annotation; leaving it out removes it. */
async function mark(
  api: Pick<ControllerDeps['api'], 'apply'>,
  { metadata: { name, uid = '' } }: Pod,
  isMarked: boolean,
): Promise<void> {
  await api.apply<KubeObject>(resources.pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, uid, ...(isMarked && { annotations: { [costAnnotation]: markedCost } }) },
  })
}

/** A pod that waits for a node or an image has no container, so it has no sockets and no load. */
const hasStarted = ({ pod, load }: ObservedShard): boolean =>
  load !== undefined || pod.status?.phase !== 'Pending'

function isShardOf({ metadata, status }: Pod, pool: string): boolean {
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  return metadata.labels?.[poolLabel] === pool && metadata.deletionTimestamp === undefined && !hasEnded
}

const poolOf = (pool: PoolObject, deployment: Workload, seen: readonly ObservedShard[]) => ({
  wanted: pool.spec.replicas,
  replicas: deployment.spec?.replicas ?? 0,
  isRollingOut: isUnseen(deployment) || isRollingOut(deployment),
  shards: seen.map(shardOf),
  drainSeconds: pool.spec.drain.seconds,
  drainsMax: pool.spec.drain.maxAtOnce,
})

const readyOf = ({ status }: Pod) =>
  status?.conditions?.find((each) => each.type === 'Ready' && each.status === 'True')

/** Whether a shard that has been ready for a while does not answer. Answers that it missed while it started do not count. */
function isUnreachable({ pod, misses }: ObservedShard, nowMs: number): boolean {
  const ready = readyOf(pod)
  return (
    ready !== undefined && misses >= missesMax && nowMs - timeOf(ready.lastTransitionTime) > reachableWithinMs
  )
}

const shardOf = ({ pod, pod: { metadata, status }, load, misses, refused }: ObservedShard): Shard => ({
  name: metadata.name,
  createdMs: timeOf(metadata.creationTimestamp),
  isLost: status?.phase !== 'Running' || misses >= missesMax,
  isRefusing: refused !== undefined,
  isReady: readyOf(pod) !== undefined,
  isMarked: metadata.annotations?.[costAnnotation] === markedCost,
  load: load && {
    connections: load.connections,
    isDraining: load.draining,
    secondsLeft: load.drainSecondsLeft,
  },
})
