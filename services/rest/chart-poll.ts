import type { UtcMs } from '../core/clocks/feed-clock.ts'

const pollBarsMax = 5
const pollSecondsMax = 900

/** Whether a request of history asks for the newest few bars, which memory has. */
export function isPoll(query: URLSearchParams, now: UtcMs): boolean {
  const [countback, to] = [query.get('countback'), query.get('to')].map((text) => Number(text || Number.NaN))
  if (countback === undefined || to === undefined) return false
  return countback >= 1 && countback <= pollBarsMax && Math.abs(to - now / 1_000) <= pollSecondsMax
}

/** Whether a request of history that ends at `to` wants the bars that run now. */
export const reachesPresent = (to: number, now: UtcMs): boolean => to >= now / 1_000 - pollSecondsMax
