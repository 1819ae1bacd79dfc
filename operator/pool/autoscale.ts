import type { StreamPoolSpec } from '../kube/kinds.ts'

/** Load of a shard; `undefined` in a list: it did not answer. */
export interface ShardUse {
  readonly connections: number
  readonly subscriptions: number
}

/** Since when fewer shards suffice, when this was last seen, and the maximum needed since. */
export interface FewerNeeded {
  readonly sinceMs: number
  readonly seenMs: number
  readonly shardsMax: number
}

export interface ScaleState {
  readonly autoscale: NonNullable<StreamPoolSpec['autoscale']>
  /** Maximum sockets of one shard. */
  readonly connectionsMax: number
  /** Current replicas of `/scale`. */
  readonly replicas: number
  readonly isPaused: boolean
  /** Loads of all shards whose pods have started, including draining ones. */
  readonly loads: readonly (ShardUse | undefined)[]
  readonly fewerNeeded: FewerNeeded | undefined
  /** Monotonic milliseconds. */
  readonly nowMs: number
}

export interface Scaling {
  /** Wanted replicas of `/scale`. */
  readonly replicas: number
  readonly fewerNeeded: FewerNeeded | undefined
  readonly reason: 'Paused' | 'ScaledToZero' | 'MetricsMissing' | 'AtMaximum' | 'AtMinimum' | 'Following'
  readonly message: string
}

/** Maximum deviation from the target, as a fraction, without a change. */
const tolerance = 0.1
/** Maximum time between two plans. After more, as while another replica led, the load in between is unknown. */
const unseenMaxMs = 60_000
/** Maximum target, as a share of a shard's maximum of sockets. Full shards reject sockets, so their load stops growing. */
const targetShareMax = 0.8

/**
 * Plans the number of shards for the load. It grows immediately. It shrinks only when fewer sufficed for the whole time,
 * and then to the maximum needed in that time. While a started shard does not answer, the pool does not shrink. At 0 the
 * number stays.
 */
export function planScale(state: ScaleState): Scaling {
  const { autoscale, connectionsMax, replicas, loads, nowMs } = state
  const stay = (reason: Scaling['reason'], message: string): Scaling => ({
    replicas,
    fewerNeeded: undefined,
    reason,
    message,
  })
  if (state.isPaused)
    return stay(
      'Paused',
      'The annotation marketdata.fxd.dev/autoscale-paused stops autoscaling; remove it to autoscale again.',
    )
  if (replicas === 0)
    return stay('ScaledToZero', 'The pool was scaled to 0; scale it to 1 or more to autoscale again.')
  if (loads.length === 0) return stay('MetricsMissing', 'No shard has started; the number of shards stays.')
  const known = loads.flatMap((each) => each ?? [])
  const { minReplicas, maxReplicas, scaleDownAfterSeconds } = autoscale
  const targetConnections = Math.min(autoscale.targetConnections, targetShareMax * connectionsMax)
  const load = loadOf(known, { ...autoscale, targetConnections })
  const needed = neededFor(load, replicas)
  const wanted = Math.min(maxReplicas, Math.max(minReplicas, needed))
  const { reason, message } = limitOf(needed, autoscale)
  const grown = { replicas: wanted, fewerNeeded: undefined, reason, message }
  if (wanted > replicas) return grown
  if (known.length < loads.length)
    return stay(
      'MetricsMissing',
      `${loads.length - known.length} of ${loads.length} shards do not report their load; the number of shards does not shrink.`,
    )
  if (wanted === replicas) return grown
  // A pool outside its limits moves within them immediately.
  const ceiling = Math.min(replicas, maxReplicas)
  const { fewerNeeded: last } = state
  const had = last && nowMs - last.seenMs <= unseenMaxMs ? last : undefined
  const fewerNeeded = {
    sinceMs: had?.sinceMs ?? nowMs,
    seenMs: nowMs,
    shardsMax: Math.max(wanted, had?.shardsMax ?? 0),
  }
  const isLong = nowMs - fewerNeeded.sinceMs >= scaleDownAfterSeconds * 1_000
  if (!isLong) return { replicas: ceiling, fewerNeeded, reason, message }
  return { replicas: Math.min(ceiling, fewerNeeded.shardsMax), fewerNeeded: undefined, reason, message }
}

/** Load as a fractional number of shards, by the target that needs more. */
function loadOf(
  loads: readonly ShardUse[],
  { targetConnections, targetSubscriptions }: ScaleState['autoscale'],
): number {
  const sum = (of: keyof ShardUse): number => loads.reduce((total, each) => total + each[of], 0)
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
    return { reason: 'AtMinimum', message: `The load needs fewer shards than minReplicas, ${minReplicas}.` }
  return { reason: 'Following', message: `The load needs ${needed} shards.` }
}
