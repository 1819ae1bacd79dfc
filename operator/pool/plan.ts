/** A shard's pod that Kubernetes does not end yet. */
export interface Shard {
  readonly name: string
  readonly createdMs: number
  /** What it told last; `undefined`: it does not answer, or does not run yet. */
  readonly load: ShardLoad | undefined
  /** It does not run, or has not answered for a while: nobody can drain it. */
  readonly isLost: boolean
  /** As Kubernetes says: of two pods it ends first the one that is not ready. */
  readonly isReady: boolean
  /** Kubernetes ends it first when there are fewer replicas. */
  readonly isMarked: boolean
}

export interface ShardLoad {
  readonly connections: number
  readonly isDraining: boolean
  /** Of its drain. */
  readonly secondsLeft: number
}

export interface Pool {
  /** What `/scale` says. */
  readonly wanted: number
  /** What the Deployment says. */
  readonly replicas: number
  /** The Deployment is replacing pods, so nobody knows which of them will stay. */
  readonly isRollingOut: boolean
  readonly shards: readonly Shard[]
  readonly drainSeconds: number
  /** Shards that drain at the same time. */
  readonly drainsMax: number
}

export type Action =
  | { readonly do: 'drain'; readonly shard: string; readonly seconds: number }
  | { readonly do: 'undrain'; readonly shard: string }
  /** Makes Kubernetes end it first, or no longer. */
  | { readonly do: 'mark'; readonly shard: string; readonly isMarked: boolean }
  | { readonly do: 'resize'; readonly replicas: number }

/**
 * The next calls for a pool, in order; none: it is as wanted. Each may be repeated, and after a crash at any of them
 * the next plan goes on. A shard is emptied before the Deployment gets smaller; when it grows, shards that drain are
 * kept first. Of a smaller pool those leave first that were never made, then those that drain already, then those that
 * are lost, then those with the fewest sockets, then the youngest; one that missed an answer only now is the last.
 */
export function planPool(pool: Pool): readonly Action[] {
  const surplus = pool.replicas - pool.wanted
  const shards = withoutEnding(pool)
  const unmade = Math.min(Math.max(0, surplus), Math.max(0, pool.replicas - pool.shards.length))
  const leaving = shards.toSorted(byLeaving).slice(0, Math.max(0, surplus - unmade))
  const names = new Set(leaving.map(({ name }) => name))
  const kept = shards.filter(({ name }) => !names.has(name)).flatMap(keep)
  if (surplus < 0) return [...kept, { do: 'resize', replicas: pool.wanted }]
  if (surplus === 0 || pool.isRollingOut) return kept
  return [...kept, ...empty(leaving, pool), ...shrink(leaving, unmade, { ...pool, shards })]
}

/** Marked shards beyond the number that the Deployment wants: Kubernetes is about to end them. */
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

/** A shard that stays takes sockets. */
const keep = ({ name, isMarked, load }: Shard): Action[] => [
  ...(isMarked ? [{ do: 'mark', shard: name, isMarked: false } as const] : []),
  ...(load?.isDraining ? [{ do: 'undrain', shard: name } as const] : []),
]

/** Drains as many at a time as may be; marks those that are empty, or whose time is over. */
function empty(leaving: readonly Shard[], { drainSeconds, drainsMax }: Pool): Action[] {
  let draining = leaving.filter(({ load }) => load?.isDraining && !isEmpty(load)).length
  return leaving.flatMap(({ name, load, isMarked, isLost }): Action[] => {
    if (isMarked || (load === undefined && !isLost)) return []
    if (load === undefined || (load.isDraining && isEmpty(load)))
      return [{ do: 'mark', shard: name, isMarked: true }]
    if (load.isDraining || draining >= drainsMax) return []
    draining += 1
    return [{ do: 'drain', shard: name, seconds: drainSeconds }]
  })
}

const isEmpty = ({ connections, secondsLeft }: ShardLoad): boolean => connections === 0 || secondsLeft === 0

/**
 * Kubernetes ends pods that are not ready before it looks at marks: a marked shard ends and no other when it is not ready
 * itself, or when all others are ready.
 */
function shrink(leaving: readonly Shard[], unmade: number, { shards, replicas }: Pool): Action[] {
  const marked = leaving.filter(({ isMarked }) => isMarked)
  const others = shards.filter((shard) => !marked.includes(shard))
  const isSafe = marked.every(({ isReady }) => !isReady) || others.every(({ isReady }) => isReady)
  const fewer = unmade + (isSafe ? marked.length : 0)
  return fewer > 0 ? [{ do: 'resize', replicas: replicas - fewer }] : []
}
