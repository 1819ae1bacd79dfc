import type { StreamPoolSpec } from '../kube/kinds.ts'

/** What a shard holds; `undefined` in a list: it did not answer. */
export interface ShardUse {
  readonly connections: number
  readonly subscriptions: number
}

/** Since when fewer shards suffice, and the most that were needed since. */
export interface Low {
  readonly sinceMs: number
  readonly most: number
}

export interface ScaleState {
  readonly autoscale: NonNullable<StreamPoolSpec['autoscale']>
  /** What `/scale` says. */
  readonly replicas: number
  readonly isPaused: boolean
  /** Of all shards, those that drain too. */
  readonly held: readonly (ShardUse | undefined)[]
  readonly low: Low | undefined
  /** Of a clock that never goes back. */
  readonly nowMs: number
}

export interface Scaling {
  /** What `/scale` is to say. */
  readonly replicas: number
  readonly low: Low | undefined
  readonly reason: 'Paused' | 'ScaledToZero' | 'MetricsMissing' | 'AtMaximum' | 'AtMinimum' | 'Following'
  readonly message: string
}

/** So little above or below the target changes nothing. */
const tolerance = 0.1

/**
 * How many shards the load needs: more at once, fewer only when fewer have sufficed for the whole time, and then the
 * most that were needed in it. While a shard does not answer everything stays. A pool that somebody scaled to 0 stays.
 */
export function planScale(state: ScaleState): Scaling {
  const { autoscale, replicas, held, nowMs } = state
  const stay = (reason: Scaling['reason'], message: string): Scaling => ({
    replicas,
    low: undefined,
    reason,
    message,
  })
  if (state.isPaused) return stay('Paused', 'The annotation autoscale-paused holds the number of shards.')
  if (replicas === 0)
    return stay('ScaledToZero', 'Somebody scaled the pool to 0; scale it to 1 or more to go on.')
  const known = held.flatMap((each) => each ?? [])
  if (known.length < held.length || known.length === 0)
    return stay('MetricsMissing', `${held.length - known.length} of ${held.length} shards do not answer.`)
  const { minReplicas, maxReplicas, scaleDownAfterSeconds } = autoscale
  const load = loadOf(known, autoscale)
  const needed = neededFor(load, replicas)
  const wanted = Math.min(maxReplicas, Math.max(minReplicas, needed))
  const { reason, message } = limitOf(needed, autoscale)
  if (wanted >= replicas) return { replicas: wanted, low: undefined, reason, message }
  // Outside its bounds the pool is moved into them at once.
  const ceiling = Math.min(replicas, maxReplicas)
  const low = { sinceMs: state.low?.sinceMs ?? nowMs, most: Math.max(wanted, state.low?.most ?? 0) }
  const isLong = nowMs - low.sinceMs >= scaleDownAfterSeconds * 1_000
  if (!isLong) return { replicas: ceiling, low, reason, message }
  return { replicas: Math.min(ceiling, low.most), low: undefined, reason, message }
}

/** In shards, with a fraction: whichever of the two targets needs more. */
function loadOf(
  held: readonly ShardUse[],
  { targetConnections, targetSubscriptions }: ScaleState['autoscale'],
): number {
  const sum = (of: keyof ShardUse): number => held.reduce((total, each) => total + each[of], 0)
  return Math.max(sum('connections') / targetConnections, sum('subscriptions') / targetSubscriptions)
}

const neededFor = (load: number, replicas: number): number =>
  Math.abs(load / replicas - 1) <= tolerance ? replicas : Math.ceil(load)

function limitOf(
  needed: number,
  { minReplicas, maxReplicas }: ScaleState['autoscale'],
): Pick<Scaling, 'reason' | 'message'> {
  if (needed > maxReplicas)
    return { reason: 'AtMaximum', message: `The load needs ${needed} shards; maxReplicas is ${maxReplicas}.` }
  if (needed < minReplicas)
    return { reason: 'AtMinimum', message: `The load needs ${needed} shards; minReplicas is ${minReplicas}.` }
  return { reason: 'Following', message: `The load needs ${needed} shards.` }
}
