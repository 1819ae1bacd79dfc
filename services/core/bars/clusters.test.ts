import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { barsOf } from './bar.ts'
import { BarClusters, defaultMaxGapSeconds } from './clusters.ts'

const bar = (time: number) => ({ time: feedSeconds(time), open: 1, high: 1, low: 1, close: 1, volume: 1 })
const bars = (times: number[]) => barsOf(times.map(bar))

test('a file is one window, split where neighbours are further apart than the gap', () => {
  const clusters = new BarClusters('1', 600)
  clusters.add(bars([0, 60, 660, 1_261, 1_320]))
  expect(clusters.spans()).toEqual([
    { from: 0, to: 720 },
    { from: 1_261, to: 1_380 },
  ])
})

test('neighbouring months are never split, however long they are', () => {
  const clusters = new BarClusters('1M', defaultMaxGapSeconds('1M'))
  clusters.add(
    bars([Date.UTC(2026, 0, 1), Date.UTC(2026, 1, 1), Date.UTC(2026, 2, 1)].map((ms) => ms / 1000)),
  )
  expect(clusters.spans()).toEqual([{ from: Date.UTC(2026, 0, 1) / 1000, to: Date.UTC(2026, 3, 1) / 1000 }])
})

test('pieces in any order give the windows of the whole sorted file', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.nat(500), { maxLength: 12 }), { maxLength: 12 }),
      fc.integer({ min: 1, max: 60 }),
      (pieces, gap) => {
        const inPieces = new BarClusters('1', gap)
        for (const piece of pieces) inPieces.add(bars(piece.toSorted((a, b) => a - b)))
        const whole = new BarClusters('1', gap)
        whole.add(bars(pieces.flat().toSorted((a, b) => a - b)))
        expect(inPieces.spans()).toEqual(whole.spans())
      },
    ),
  )
})
