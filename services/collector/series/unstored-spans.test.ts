import { expect, test } from 'vitest'
import { barsOf } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { UnstoredSpans } from './unstored-spans.ts'

const minutes = (...list: number[]) =>
  barsOf(list.map((at) => ({ time: feedSeconds(at * 60), open: 1, high: 1, low: 1, close: 1, volume: 1 })))
const span = (from: number, to: number) => ({ from: feedSeconds(from * 60), to: feedSeconds(to * 60) })

test('a claim leaves out times that were not stored, until they are', () => {
  const unstored = new UnstoredSpans('1')
  unstored.add(minutes(3, 4, 7))
  expect(unstored.outside([span(0, 10)])).toEqual([span(0, 3), span(5, 7), span(8, 10)])
  unstored.fill(minutes(3, 7))
  expect(unstored.outside([span(0, 10)])).toEqual([span(0, 4), span(5, 10)])
})

test('too many spans become one, so that their number is bounded', () => {
  const unstored = new UnstoredSpans('1')
  unstored.add(minutes(...Array.from({ length: 300 }, (_, i) => 2 * i)))
  expect(unstored.outside([span(-10, 700)])).toEqual([span(-10, 0), span(599, 700)])
})
