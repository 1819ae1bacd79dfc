import { type FeedSeconds, offsetSecondsMax, toSeconds, type UtcMs } from '../../core/clocks/feed-clock.ts'

/** Clocks of brokers differ from UTC by whole quarters of an hour. */
const stepSeconds = 900
const samplesMin = 3
const spanMs = 120_000
/** A pause for so long between two ticks, and they do not flow. */
const pauseMsMax = 90_000
/** Ticks are heard late, and not always equally late. */
const spreadSecondsMax = 60
/** Farther from a whole quarter, a clock cannot be told from another one, or from ticks that lag. */
const awaySecondsMax = 180
/** No clock is put forward by more at once: a tick farther ahead is a mistake, until it is measured. */
export const jumpSecondsMax = 7_200

/** The newest tick of a symbol whose quotes are not delayed, and when it was heard of. */
export interface ClockSample {
  readonly utc: UtcMs
  readonly tick: FeedSeconds
}

/** Samples one after another that agree, in sum. */
export interface ClockRun {
  readonly count: number
  readonly since: UtcMs
  readonly last: UtcMs
  readonly tick: FeedSeconds
  /** Of utc - tick: a tick may be heard late, so the least is the nearest to the offset. */
  readonly leastSeconds: number
  readonly mostSeconds: number
}

const lagSeconds = ({ utc, tick }: ClockSample): number => toSeconds(utc) - tick

/**
 * Takes a sample in; the run itself comes back while ticks stand still, since how long ago one was tells
 * nothing. The first tick of a session may be of any age, so it only shows which one is the next.
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

/** The offset (utc = feed + offset) that a run proves; `undefined` means unknown, which is never 0. */
export function measuredOffset(run: ClockRun): number | undefined {
  if (run.count < samplesMin || run.last - run.since < spanMs) return undefined
  const offset = Math.round(run.leastSeconds / stepSeconds) * stepSeconds + 0
  const isNear = [run.leastSeconds, run.mostSeconds].every((lag) => Math.abs(lag - offset) <= awaySecondsMax)
  return isNear && Math.abs(offset) <= offsetSecondsMax ? offset : undefined
}

/** Whether a clock may have been put back or forward since it was measured. */
export function contradicts(offsetSeconds: number, sample: ClockSample): boolean {
  const late = lagSeconds(sample) - offsetSeconds
  return Math.abs(late) > awaySecondsMax && late >= -jumpSecondsMax
}
