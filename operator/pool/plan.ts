/** A shard's pod without a deletion timestamp. */
export interface Shard {
  readonly name: string
  readonly createdMs: number
  /** Its last answer; `undefined`: it does not answer or does not run yet. */
  readonly load: ShardLoad | undefined
  /** Whether it does not run or missed several answers, so that it cannot be drained. */
  readonly isLost: boolean
  /** Whether it rejects the operator's credentials, so that it cannot be drained either. */
  readonly isRefusing: boolean
  /** Whether the pod is ready. Kubernetes ends pods that are not ready first. */
  readonly isReady: boolean
  /** Whether it has the annotation with which Kubernetes ends it first. */
  readonly isMarked: boolean
}

interface ShardLoad {
  readonly connections: number
  readonly isDraining: boolean
  readonly secondsLeft: number
}

export interface Pool {
  /** Wanted replicas: `/scale`. */
  readonly wanted: number
  /** Replicas of the Deployment. */
  readonly replicas: number
  /** Whether the Deployment replaces pods, so that it is unknown which of them stay. */
  readonly isRollingOut: boolean
  readonly shards: readonly Shard[]
  readonly drainSeconds: number
  /** How many shards' clients may reconnect in `drainSeconds`. */
  readonly drainsMax: number
}

/** Maximum duration of a drain, as shards accept it. */
const drainSecondsMax = 3_600

export type Action =
  | { readonly do: 'drain'; readonly shard: string; readonly seconds: number }
  | { readonly do: 'undrain'; readonly shard: string }
  | { readonly do: 'mark'; readonly shard: string; readonly isMarked: boolean }
  | { readonly do: 'resize'; readonly replicas: number }

/**
 * The next calls for a pool, in order; empty when the pool has its wanted state. Each call may be repeated, and after
 * a crash the next plan continues. A shard drains before the Deployment shrinks. A growing pool keeps draining shards
 * first. A shrinking pool removes shards in this order: never made, draining, lost, fewest sockets, youngest. A shard
 * that just missed an answer is the last. Until it answers or is lost, no other shard begins to drain: a lost shard
 * leaves before healthy ones.
 */
export function planPool(pool: Pool): readonly Action[] {
  const surplus = pool.replicas - pool.wanted
  const shards = withoutEnding(pool)
  const unmade = Math.min(Math.max(0, surplus), Math.max(0, pool.replicas - pool.shards.length))
  const leaving = shards.toSorted(byLeaving).slice(0, Math.max(0, surplus - unmade))
  const names = new Set(leaving.map(({ name }) => name))
  const kept = shards.filter(({ name }) => !names.has(name)).flatMap(reopen)
  if (surplus < 0) return [...kept, { do: 'resize', replicas: pool.wanted }]
  if (surplus === 0 || pool.isRollingOut) return kept
  return [...kept, ...empty(leaving, pool), ...shrink(leaving, unmade, { ...pool, shards })]
}

/** The shards without those that Kubernetes is about to end: marked ones above the Deployment's replicas. */
function withoutEnding({ shards, replicas }: Pool): readonly Shard[] {
  const ending = shards.filter(({ isMarked }) => isMarked).slice(0, Math.max(0, shards.length - replicas))
  return shards.filter((shard) => !ending.includes(shard))
}

function byLeaving(a: Shard, b: Shard): number {
  const rank = ({ isMarked, load, isLost }: Shard): number =>
    isMarked ? 0 : load?.isDraining ? 1 : load ? 3 : isLost ? 2 : 4
  return (
    rank(a) - rank(b) ||
    (a.load?.connections ?? 0) - (b.load?.connections ?? 0) ||
    b.createdMs - a.createdMs ||
    (a.name < b.name ? -1 : 1)
  )
}

const reopen = ({ name, isMarked, load }: Shard): Action[] => [
  ...(isMarked ? [{ do: 'mark', shard: name, isMarked: false } as const] : []),
  ...(load?.isDraining ? [{ do: 'undrain', shard: name } as const] : []),
]

/**
 * Drains all of them together, so that no socket moves from one to the next. More shards than `drainsMax` drain longer: then
 * no more clients reconnect at a time. Marks those that are empty or whose drain time is over.
 */
function empty(leaving: readonly Shard[], { shards, drainSeconds, drainsMax }: Pool): Action[] {
  const isWaiting = shards.some((shard) => isSilent(shard) && !shard.isRefusing)
  const seconds = Math.min(drainSecondsMax, drainSeconds * Math.ceil(leaving.length / drainsMax))
  return leaving.flatMap((shard): Action[] => {
    const { name, load } = shard
    if (shard.isMarked || isSilent(shard)) return []
    if (load === undefined || (load.isDraining && isEmpty(load)))
      return [{ do: 'mark', shard: name, isMarked: true }]
    if (load.isDraining || isWaiting) return []
    return [{ do: 'drain', shard: name, seconds }]
  })
}

/** Whether it missed an answer and is not lost: it may answer again. */
const isSilent = ({ load, isLost }: Shard): boolean => load === undefined && !isLost

const isEmpty = ({ connections, secondsLeft }: ShardLoad): boolean => connections === 0 || secondsLeft === 0

/** Kubernetes ends pods that are not ready before marked ones, so this waits until exactly the marked ones would end. */
function shrink(leaving: readonly Shard[], unmade: number, { shards, replicas }: Pool): Action[] {
  const marked = leaving.filter(({ isMarked }) => isMarked)
  const others = shards.filter((shard) => !marked.includes(shard))
  const isSafe = marked.every(({ isReady }) => !isReady) || others.every(({ isReady }) => isReady)
  const fewer = unmade + (isSafe ? marked.length : 0)
  return fewer > 0 ? [{ do: 'resize', replicas: replicas - fewer }] : []
}
