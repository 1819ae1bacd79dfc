import type { Bar, RevisedBar } from '../../../services/core/bars/bar.ts'

/** A bar as a collector read and sent it. Two readings of the same symbol and time always differ. */
export interface Reading {
  readonly symbol: string
  readonly bar: RevisedBar
  /** Whether ingest acknowledged it. */
  acked: boolean
}

/** The bars of each symbol in history. */
export type Shown = ReadonlyMap<string, readonly Bar[]>

/**
 * Returns what is wrong with the history after these readings, a sentence each. History must have every
 * acknowledged bar once, at its greatest acknowledged revision or a later one. It must have no bar that was never sent.
 */
export function checkHistory(readings: readonly Reading[], shown: Shown): string[] {
  const complaints: string[] = []
  for (const [symbol, of] of Map.groupBy(readings, (reading) => reading.symbol)) {
    const bars = shown.get(symbol) ?? []
    complaints.push(...checkOrder(symbol, bars))
    const sent = Map.groupBy(of, ({ bar }) => bar.time as number)
    const revisions = new Map<number, number>()
    for (const bar of bars) {
      const reading = sent.get(bar.time)?.find((each) => isSame(each.bar, bar))
      if (reading === undefined)
        complaints.push(`${symbol} at ${bar.time} was never sent: ${JSON.stringify(bar)}`)
      revisions.set(bar.time, reading?.bar.revision ?? Number.NaN)
    }
    for (const [time, candidates] of sent) {
      const acked = candidates.filter((reading) => reading.acked).map(({ bar }) => bar.revision)
      if (acked.length === 0) continue
      const revision = revisions.get(time)
      const least = Math.max(...acked)
      if (revision === undefined) complaints.push(`${symbol} at ${time} was acknowledged and is not there`)
      else if (revision < least)
        complaints.push(`${symbol} at ${time} has revision ${revision}; ${least} was acknowledged`)
    }
  }
  for (const symbol of shown.keys())
    if (!readings.some((reading) => reading.symbol === symbol)) complaints.push(`${symbol} was never sent`)
  return complaints
}

const bucketSeconds = 1_800

/** Returns what is wrong with the 30-minute bars; they must be the fold of the one-minute bars. */
export function checkFold(minutes: Shown, shown: Shown): string[] {
  const complaints: string[] = []
  for (const [symbol, bars] of minutes) {
    const folded = [...Map.groupBy(bars, ({ time }) => Math.floor(time / bucketSeconds))].map(fold)
    // The oldest bucket may be incomplete unless a minute opens at its start.
    const [oldest] = folded
    if (oldest !== undefined && bars[0]?.time !== oldest.time) folded.shift()
    const given = shown.get(symbol) ?? []
    complaints.push(...checkOrder(`${symbol} of 30 minutes`, given))
    const left = new Map(given.map((bar) => [bar.time as number, bar]))
    for (const wanted of folded) {
      const bar = left.get(wanted.time)
      left.delete(wanted.time)
      if (bar === undefined) complaints.push(`${symbol} of 30 minutes at ${wanted.time} is not there`)
      else if (!isSame(wanted, bar))
        complaints.push(
          `${symbol} of 30 minutes at ${wanted.time} is ${JSON.stringify(bar)}, its fold ${JSON.stringify(wanted)}`,
        )
    }
    for (const time of left.keys()) complaints.push(`${symbol} of 30 minutes at ${time} has no minutes`)
  }
  return complaints
}

function fold([bucket, bars]: [number, readonly Bar[]]): Bar {
  return {
    time: (bucket * bucketSeconds) as Bar['time'],
    open: bars[0]?.open ?? Number.NaN,
    high: Math.max(...bars.map(({ high }) => high)),
    low: Math.min(...bars.map(({ low }) => low)),
    close: bars.at(-1)?.close ?? Number.NaN,
    volume: bars.reduce((sum, { volume }) => sum + volume, 0),
  }
}

const checkOrder = (symbol: string, bars: readonly Bar[]): string[] =>
  bars.flatMap(({ time }, i) =>
    i > 0 && time <= (bars[i - 1] as Bar).time ? [`${symbol} at ${time} is there twice or out of order`] : [],
  )

const isSame = (a: Bar, b: Bar): boolean =>
  a.open === b.open && a.high === b.high && a.low === b.low && a.close === b.close && a.volume === b.volume
