/** What one socket was told of one symbol. */
type Told =
  | { readonly type: 'bar'; readonly time: number }
  /** Bars after one time, until another, may be missing. */
  | { readonly type: 'gap'; readonly after: number; readonly until: number }

/**
 * Promise 3, a sentence for each fault; none when each bar came once, in order, and all that is owed came or
 * was named in a gap before the next that came. `owed` gives the times owed between two; no first one: before
 * the first that came.
 */
export function checkSequence(
  what: string,
  told: readonly Told[],
  since: number | undefined,
  owed: (after: number | undefined, before: number) => readonly number[],
): string[] {
  const complaints: string[] = []
  let last = since
  let gaps: { readonly after: number; readonly until: number }[] = []
  for (const each of told) {
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
