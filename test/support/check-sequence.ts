/** A message to one socket about one symbol. */
type Received =
  | { readonly type: 'bar'; readonly time: number }
  /** Bars with `after < time <= until` may be missing. */
  | { readonly type: 'gap'; readonly after: number; readonly until: number }

/**
 * Checks promise 3 and returns a sentence for each fault. Each bar must come once and in order. Every expected bar must
 * come, or be named in a gap, before the next bar. `expected` returns the times of the bars due between two received
 * bars; without `after`, of those due before the first one.
 */
export function checkSequence(
  what: string,
  received: readonly Received[],
  since: number | undefined,
  expected: (after: number | undefined, before: number) => readonly number[],
): string[] {
  const complaints: string[] = []
  let last = since
  let gaps: { readonly after: number; readonly until: number }[] = []
  for (const each of received) {
    if (each.type === 'gap') {
      gaps.push(each)
      continue
    }
    const { time } = each
    if (last !== undefined && time <= last) complaints.push(`${what} at ${time} came after ${last}`)
    for (const missed of expected(last, time))
      if (!gaps.some(({ after, until }) => missed > after && missed <= until))
        complaints.push(`${what} at ${missed} is neither delivered nor named`)
    last = time
    gaps = []
  }
  return complaints
}
