import { expect, test } from 'vitest'
import { minuteBars } from '../../../test/contract/suites/sample-bars.ts'
import { UnstoredSpans } from '../../collector/series/unstored-spans.ts'
import { type Bars, barCount, barsOf } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { SeriesSender } from './send-series.ts'

test.for([
  [-3, 2, 1],
  [0, 3, 0],
] as const)(
  'of a file read %i s after the end of its last bar %i bars are sent, and %i counts as forming',
  async ([after, sent, forming]) => {
    const bars = minuteBars(0, 3)
    const batches: Bars[] = []
    const sender = new SeriesSender({
      resolution: '1',
      maxGapSeconds: 345_600,
      delaySeconds: 0,
      writtenAt: undefined,
      readAt: feedSeconds((bars.at(-1)?.time ?? 0) + 60 + after),
      send: async (batch) => {
        batches.push(batch)
        return { accepted: barCount(batch), revised: 0, unchanged: 0, refused: [] }
      },
      holes: new UnstoredSpans('1'),
      onRefused: () => undefined,
      onDone: () => undefined,
    })
    await sender.add(barsOf(bars))
    await sender.end()
    expect(batches.map(barCount)).toEqual([sent])
    expect(sender.counts).toMatchObject({ accepted: sent, forming })
  },
)
