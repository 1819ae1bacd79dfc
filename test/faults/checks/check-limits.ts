/** An answer to a user of a limited key, with its rate window. Times are Unix milliseconds. */
export interface LimitedAnswer {
  readonly fromMs: number
  readonly untilMs: number
  /** Reset of the window that counted the request, in Unix seconds. */
  readonly reset: number
  readonly isRefused: boolean
}

/** An outage of Redis, in Unix milliseconds. */
export interface Outage {
  readonly fromMs: number
  readonly untilMs: number
}

/** The counter of a REST pod: requests of all keys that it admitted by its share since its process started. */
export interface ShareReading {
  readonly fromMs: number
  readonly untilMs: number
  /** Process id; a new process counts from 0. */
  readonly pid: number
  readonly admitted: number
}

export interface LimitRecord {
  readonly rpm: number
  readonly answers: readonly LimitedAnswer[]
  readonly outages: readonly Outage[]
  /** Readings of each pod, in the order of pods. */
  readonly shares: readonly (readonly ShareReading[])[]
}

const minuteMs = 60_000
/** Time within which a pod notices that Redis is available again. */
const afterMs = 3_000
/** Timeout of a call to Redis; after it the pod decides by its share. */
const decisionMs = 1_000

/**
 * Checks promise 4; returns a sentence for each minute in which too much was admitted. Allowed are the limit,
 * the limit once more for each outage that may have emptied Redis, and admissions by shares.
 * It counts by the windows of the answers and by the minutes of the user's clock: a limiter that reports new
 * windows too early would refuse nothing.
 */
export function checkLimits(record: LimitRecord): string[] {
  const admitted = record.answers.filter(({ isRefused }) => !isRefused)
  const byAnswer = Map.groupBy(admitted, ({ reset }) => reset)
  const byClock = Map.groupBy(
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
  return [...over(byAnswer, ''), ...over(byClock, " by the user's clock")]
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
  // What a killed process had not reported is unknown. Outside of outages, only slow answers can be by share.
  const slow = admitted.filter(({ fromMs, untilMs }) => untilMs - fromMs >= decisionMs).length
  const onceByShares = rpm + shares.length
  const unknown = read.every(({ isWhole }) => isWhole) ? 0 : slow + touching * onceByShares
  // On a busy machine Redis may answer a single request too late; allow the shares of one more outage.
  return rpm + touching * rpm + Math.min(known + unknown, (touching + 1) * onceByShares)
}

/** What a pod may have admitted by its share in that time; `isWhole` is false if a process ended before it reported all. */
function readShares(
  readings: readonly ShareReading[],
  { fromMs, untilMs }: Pick<LimitedAnswer, 'fromMs' | 'untilMs'>,
): { readonly admitted: number; readonly isWhole: boolean } {
  const processes = [...Map.groupBy(readings, ({ pid }) => pid).values()]
  let [admitted, isWhole] = [0, processes.length > 0]
  processes.forEach((counts, i) => {
    const before = counts.findLast((each) => each.untilMs <= fromMs)?.admitted ?? 0
    const after = counts.find((each) => each.fromMs >= untilMs)
    admitted += ((after ?? counts.at(-1))?.admitted ?? before) - before
    // The process had ended before the first reading of the next one.
    const endedMs = processes[i + 1]?.[0]?.untilMs ?? Number.POSITIVE_INFINITY
    if (!after && endedMs > fromMs) isWhole = false
  })
  return { admitted, isWhole }
}
