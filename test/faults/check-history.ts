import type { RevisedBar } from '../../services/core/bar.ts'

/** A bar as a collector read and sent it. */
export interface Reading {
  readonly symbol: string
  readonly bar: RevisedBar
  /** Whether ingest said that it is stored. */
  acked: boolean
}

/**
 * What is wrong with the stored history of these readings, a sentence each; none when all that was
 * acknowledged is there once, as its greatest revision says, and nothing that nobody sent.
 */
export function checkHistory(
  readings: readonly Reading[],
  stored: ReadonlyMap<string, readonly RevisedBar[]>,
): string[] {
  const complaints: string[] = []
  for (const [symbol, of] of Map.groupBy(readings, (reading) => reading.symbol)) {
    const bars = stored.get(symbol) ?? []
    bars.forEach(({ time }, i) => {
      if (i > 0 && time <= (bars[i - 1] as RevisedBar).time)
        complaints.push(`${symbol} at ${time} is there twice or out of order`)
    })
    const sent = Map.groupBy(of, ({ bar }) => bar.time as number)
    for (const bar of bars) {
      if (!(sent.get(bar.time) ?? []).some((reading) => isSame(reading.bar, bar)))
        complaints.push(`${symbol} at ${bar.time} holds what nobody sent: ${JSON.stringify(bar)}`)
    }
    const held = new Map(bars.map((bar) => [bar.time as number, bar]))
    for (const [time, candidates] of sent) {
      const revisions = candidates.filter(({ acked }) => acked).map(({ bar }) => bar.revision)
      if (revisions.length === 0) continue
      const bar = held.get(time)
      const least = Math.max(...revisions)
      if (bar === undefined) complaints.push(`${symbol} at ${time} was acknowledged and is not there`)
      else if (bar.revision < least)
        complaints.push(`${symbol} at ${time} has revision ${bar.revision}; ${least} was acknowledged`)
    }
  }
  return complaints
}

const isSame = (a: RevisedBar, b: RevisedBar): boolean =>
  a.revision === b.revision &&
  a.open === b.open &&
  a.high === b.high &&
  a.low === b.low &&
  a.close === b.close &&
  a.volume === b.volume
