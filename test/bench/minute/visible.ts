import { systemClock } from '../../../services/platform/system-clock.ts'
import { market } from './market.ts'
import { monotonicMs } from './monotonic.ts'

const pollMs = 25
const deadlineMs = 10_000

/**
 * When each process that answers history has the last symbol of each feed for this minute, in milliseconds of the
 * monotonic clock. It asks from this call on, so the time is an upper bound.
 */
export async function visibleAt(
  readers: Readonly<Record<string, number>>,
  key: string,
  minute: number,
): Promise<number> {
  const headers = { 'X-API-Key': key }
  const times = Object.values(readers).flatMap((port) =>
    market.map(async ({ feed, names }) => {
      const symbol = `${feed}:${names.at(-1)}`
      const url = `http://127.0.0.1:${port}/v1/history?symbol=${symbol}&resolution=1&countback=1`
      const end = monotonicMs() + deadlineMs
      while (monotonicMs() < end) {
        const answer = (await (await fetch(url, { headers })).json()) as { t?: number[] }
        if (answer.t?.[0] === minute) return monotonicMs()
        await systemClock.sleep(pollMs)
      }
      throw new Error(`${url} had no bar of ${minute}`)
    }),
  )
  return Math.max(...(await Promise.all(times)))
}
