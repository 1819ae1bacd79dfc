/** An answer to a user of a limited key that tells its window. Times are Unix milliseconds. */
export interface LimitedAnswer {
  readonly fromMs: number
  readonly untilMs: number
  /** Unix seconds at which the window resets that it was counted in. */
  readonly reset: number
  readonly isRefused: boolean
}

/** An outage of Redis, in Unix milliseconds. */
export interface Outage {
  readonly fromMs: number
  readonly untilMs: number
}

/** What a pod that decides told of all that it admitted by its share, of whatever key, since its process began. */
export interface ShareReading {
  readonly fromMs: number
  readonly untilMs: number
  /** Of which process: a new one begins at 0. */
  readonly pid: number
  readonly admitted: number
}

export interface LimitRecord {
  readonly rpm: number
  readonly answers: readonly LimitedAnswer[]
  readonly outages: readonly Outage[]
  /** Of each pod, in their order. */
  readonly shares: readonly (readonly ShareReading[])[]
}

const minuteMs = 60_000
/** A pod learns within so long that Redis is back. */
const afterMs = 3_000
/** A request waits so long for Redis, then its pod decides by its share. */
const decisionMs = 1_000

/**
 * Promise 4, a sentence for each minute in which more was admitted than may be: the limit, once more for
 * each outage that may have emptied Redis, and what the pods admitted by their shares. Minutes are those
 * of the answers, and also those of the user's own clock: a limiter that tells of a new window too early
 * refuses nobody. Who asked for less than the limit gets no sentence.
 */
export function checkLimits(record: LimitRecord): string[] {
  const admitted = record.answers.filter(({ isRefused }) => !isRefused)
  const told = Map.groupBy(admitted, ({ reset }) => reset)
  const own = Map.groupBy(
    admitted.filter(({ fromMs, untilMs }) => resetAt(fromMs) === resetAt(untilMs)),
    ({ fromMs }) => resetAt(fromMs),
  )
  const over = (windows: ReadonlyMap<number, readonly LimitedAnswer[]>, whose: string): string[] =>
    [...windows].flatMap(([reset, those]) => {
      const most = mostOf(record, reset, those)
      return those.length > most
        ? [`until ${reset} ${those.length} were admitted${whose}, ${most} at most`]
        : []
    })
  return [...over(told, ''), ...over(own, " by the user's clock")]
}

/** The end of a UTC minute, in Unix seconds. */
const resetAt = (ms: number): number => ((Math.floor(ms / minuteMs) + 1) * minuteMs) / 1_000

function mostOf(
  { rpm, outages, shares }: LimitRecord,
  reset: number,
  admitted: readonly LimitedAnswer[],
): number {
  const touching = outages.filter(
    ({ fromMs, untilMs }) => fromMs < reset * 1_000 && untilMs + afterMs > reset * 1_000 - minuteMs,
  ).length
  const span = {
    fromMs: Math.min(...admitted.map(({ fromMs }) => fromMs)),
    untilMs: Math.max(...admitted.map(({ untilMs }) => untilMs)),
  }
  const read = shares.map((readings) => readShares(readings, span))
  const known = read.reduce((sum, { admitted: count }) => sum + count, 0)
  // What a killed process had not told yet nobody knows: where Redis was not away, it took its time.
  const slow = admitted.filter(({ fromMs, untilMs }) => untilMs - fromMs >= decisionMs).length
  const onceByShares = rpm + shares.length
  const unknown = read.every(({ isWhole }) => isWhole) ? 0 : slow + touching * onceByShares
  // A request for which Redis answered too late, on a machine that is too busy, met an outage of its own.
  return rpm + touching * rpm + Math.min(known + unknown, (touching + 1) * onceByShares)
}

/** What a pod may have admitted by its share in that time; not whole: a process ended before it told all of that. */
function readShares(
  readings: readonly ShareReading[],
  { fromMs, untilMs }: Pick<LimitedAnswer, 'fromMs' | 'untilMs'>,
): { readonly admitted: number; readonly isWhole: boolean } {
  const lives = [...Map.groupBy(readings, ({ pid }) => pid).values()]
  let [admitted, isWhole] = [0, lives.length > 0]
  lives.forEach((life, i) => {
    const before = life.findLast((each) => each.untilMs <= fromMs)?.admitted ?? 0
    const after = life.find((each) => each.fromMs >= untilMs)
    admitted += ((after ?? life.at(-1))?.admitted ?? before) - before
    // Once the next has told something, this one had ended.
    const endedMs = lives[i + 1]?.[0]?.untilMs ?? Number.POSITIVE_INFINITY
    if (!after && endedMs > fromMs) isWhole = false
  })
  return { admitted, isWhole }
}
