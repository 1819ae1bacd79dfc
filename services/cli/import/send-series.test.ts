import { expect, test } from 'vitest'
import { minuteBars } from '../../../test/contract/suites/sample-bars.ts'
import { UnstoredSpans } from '../../collector/series/unstored-spans.ts'
import { type Bars, barCount, barsOf } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { batchBarsMax } from '../../wire/limits.ts'
import { SeriesSender } from './send-series.ts'

/** The batches of a file of so many minutes that was read this long after the end of its last bar, and the sender's counts. */
async function sendMinutes(count: number, afterSeconds: number, delaySeconds = 0) {
  const bars = minuteBars(0, count)
  const batches: Bars[] = []
  const sender = new SeriesSender({
    resolution: '1',
    maxGapSeconds: 345_600,
    delaySeconds,
    writtenAt: undefined,
    readAt: feedSeconds((bars.at(-1)?.time ?? 0) + 60 + afterSeconds),
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
  return { sent: batches.map(barCount), counts: sender.counts }
}

test.for([
  [-3, 2, 1],
  [0, 3, 0],
] as const)(
  'of a file read %i s after the end of its last bar %i bars are sent, and %i counts as forming',
  async ([after, sent, forming]) => {
    const { sent: batches, counts } = await sendMinutes(3, after)
    expect(batches).toEqual([sent])
    expect(counts).toMatchObject({ accepted: sent, forming })
  },
)

test('a forming bar after a full batch is sent when only it shows that the bar before it has closed', async () => {
  expect((await sendMinutes(batchBarsMax + 1, -3)).sent).toEqual([batchBarsMax])
  expect((await sendMinutes(batchBarsMax + 1, -3, 900)).sent).toEqual([batchBarsMax, 1])
})
