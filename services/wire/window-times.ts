import type { Span } from '../core/bars/window.ts'
import { feedSeconds } from '../core/clocks/feed-clock.ts'

/** Windows as `KnownSeries` has them: the first time, then the difference of each time from the one before. */
export function encodeWindows(windows: readonly Span[]): number[] {
  let previous = 0
  return windows
    .flatMap(({ from, to }) => [from, to])
    .map((time) => {
      const delta = time - previous
      previous = time
      return delta
    })
}

export function decodeWindows(deltas: readonly number[]): Span[] {
  const spans: Span[] = []
  let time = 0
  for (let i = 0; i + 1 < deltas.length; i += 2) {
    const from = time + (deltas[i] as number)
    time = from + (deltas[i + 1] as number)
    spans.push({ from: feedSeconds(from), to: feedSeconds(time) })
  }
  return spans
}
