import {
  clockStepSecondsMax,
  type FeedSeconds,
  offsetSecondsMax,
  toSeconds,
  type UtcMs,
} from '../../core/clocks/feed-clock.ts'

/** Offsets of broker clocks are multiples of a quarter of an hour. */
const stepSeconds = 900
/** Minimum samples of a run, and minimum time between its first and last, that prove an offset. */
const samplesMin = 3
const spanMs = 120_000
const pauseMsMax = 90_000
/** Maximum difference between the lags of a run: ticks arrive late, and not equally late. */
const spreadSecondsMax = 60
/** Maximum distance of a lag from a quarter of an hour; above it the offset is ambiguous, or the ticks lag. */
const distanceSecondsMax = 180

/** The newest tick of symbols without delayed quotes, and when ingest received it. */
export interface ClockSample {
  readonly utc: UtcMs
  readonly tick: FeedSeconds
}

/** Summary of consecutive samples that agree. */
export interface ClockRun {
  readonly count: number
  readonly since: UtcMs
  readonly last: UtcMs
  readonly tick: FeedSeconds
  /** Least and greatest `utc - tick`. Ticks arrive late, so the least is nearest to the offset. */
  readonly leastSeconds: number
  readonly mostSeconds: number
}

const lagSeconds = ({ utc, tick }: ClockSample): number => toSeconds(utc) - tick

/**
 * Adds a sample to a run. Returns the same run while the tick does not change: the age of such a tick is unknown.
 * The first tick of a session may have any age, so it is only the reference for the next one.
 */
export function followClock(run: ClockRun | undefined, sample: ClockSample): ClockRun {
  const { utc, tick } = sample
  const lag = lagSeconds(sample)
  const alone = { since: utc, last: utc, tick, leastSeconds: lag, mostSeconds: lag }
  if (run === undefined) return { ...alone, count: 0 }
  if (tick === run.tick) return run
  const pauseMs = utc - run.last
  const leastSeconds = Math.min(run.leastSeconds, lag)
  const mostSeconds = Math.max(run.mostSeconds, lag)
  const agrees = mostSeconds - leastSeconds <= spreadSecondsMax && pauseMs >= 0 && pauseMs <= pauseMsMax
  if (run.count === 0 || !agrees) return { ...alone, count: 1 }
  return { count: run.count + 1, since: run.since, last: utc, tick, leastSeconds, mostSeconds }
}

/** The offset in seconds (utc = feed + offset) that a run proves; `undefined` if it proves none. */
export function measuredOffset(run: ClockRun): number | undefined {
  if (run.count < samplesMin || run.last - run.since < spanMs) return undefined
  const offset = Math.round(run.leastSeconds / stepSeconds) * stepSeconds + 0
  const isNear = [run.leastSeconds, run.mostSeconds].every(
    (lag) => Math.abs(lag - offset) <= distanceSecondsMax,
  )
  return isNear && Math.abs(offset) <= offsetSecondsMax ? offset : undefined
}

/**
 * Whether the sample shows that the clock may have been put back or forward since it was measured. A tick farther ahead
 * than the maximum step is an error until a run proves it.
 */
export function contradicts(offsetSeconds: number, sample: ClockSample): boolean {
  const late = lagSeconds(sample) - offsetSeconds
  return Math.abs(late) > distanceSecondsMax && late >= -clockStepSecondsMax
}
