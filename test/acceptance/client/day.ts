import { until } from './until.ts'

const daySeconds = 86_400

/** Resolves once at least this many seconds of the UTC day are left: counters and limits of a day begin again with the next. */
export const secondsOfDayLeft = async (seconds: number): Promise<void> => {
  const left = (): number => daySeconds - ((Date.now() / 1_000) % daySeconds)
  await until(`${seconds} s of the day to be left`, () => left() > seconds, 2 * seconds * 1_000)
}
