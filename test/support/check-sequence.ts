/** A message to one socket about one symbol. */
type Received =
  | { readonly type: 'bar'; readonly time: number }
  /** Bars with `after < time <= until` may be missing. */
  | { readonly type: 'gap'; readonly after: number; readonly until: number }

/**
 * Checks promise 3 and returns a sentence for each fault. Each bar must come once and in order. Every owed bar must
 * come, or be named in a gap, before the next bar. `owed` returns the owed times between two bars; without `after`,
 * those before the first bar.
 */
export function checkSequence(
  what: string,
  received: readonly Received[],
  since: number | undefined,
  owed: (after: number | undefined, before: number) => readonly number[],
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
    for (const missed of owed(last, time))
      if (!gaps.some(({ after, until }) => missed > after && missed <= until))
        complaints.push(`${what} at ${missed} is neither delivered nor named`)
    last = time
    gaps = []
  }
  return complaints
}
