import { expect, test } from 'vitest'
import { type FeedSeconds, feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { TerminalBar } from '../../../core/terminal/lines.ts'
import { SweptBars } from './swept-bars.ts'

const noon = Date.UTC(2026, 0, 5, 12) / 1_000
const at = (minutes: number): FeedSeconds => feedSeconds(noon + minutes * 60)
const series = { raw: 'EURUSD', resolution: '1' } as const

const bar = (minutes: number, close = '1.1'): TerminalBar => ({
  time: at(minutes),
  open: '1.1',
  high: '1.2',
  low: '1.0',
  close,
  volume: 1,
})

const open = (...delayed: string[]) => new SweptBars((raw) => delayed.includes(raw))

/** Minutes and closes of the bars that closed with this post. */
function closed(swept: SweptBars, tick?: FeedSeconds, endedWithoutTick?: FeedSeconds) {
  return swept
    .closed(tick, endedWithoutTick, true)
    .flatMap(({ bars }) => [...bars.time].map((time, i) => [(time - noon) / 60, bars.close[i]]))
}

test('all bars of a sweep have closed but the last one', () => {
  const swept = open()
  swept.take(series, [bar(0), bar(1), bar(2)], true)
  expect(closed(swept, at(2))).toEqual([
    [0, 1.1],
    [1, 1.1],
  ])
})

test('a tick of any symbol at the end of a bar closes it, in the post that has both', () => {
  const swept = open()
  swept.take(series, [bar(0, '1.12')], true)
  expect(closed(swept, feedSeconds(at(1) - 1))).toEqual([])
  swept.take(series, [bar(0, '1.13')], true)
  expect(closed(swept, at(1))).toEqual([[0, 1.13]])
})

test('a bar of an earlier post is not closed by a tick alone, since a sweep may bring its last value', () => {
  const swept = open()
  swept.take(series, [bar(0, '1.12')], true)
  closed(swept, at(0.5))
  expect(closed(swept, at(1))).toEqual([])
  swept.take(series, [bar(0, '1.13'), bar(1)], true)
  expect(closed(swept, at(1))).toEqual([[0, 1.13]])
})

test('a bar that was forming in an earlier session is not closed by a later bar of the next one', () => {
  const swept = open()
  swept.take(series, [bar(0, '1.12')], true)
  closed(swept, at(0.5))
  swept.restart()
  swept.take(series, [bar(1)], true)
  expect(closed(swept, at(1))).toEqual([])
})

test('the end of a sweep over all symbols closes the bars before it', () => {
  const swept = open()
  swept.take(series, [bar(0, '1.12')], true)
  closed(swept, at(0.5))
  expect(swept.watched('1', at(1), at(1))).toBe(at(1))
  expect(closed(swept, at(1))).toEqual([[0, 1.12]])
})

test('a sweep ends before a bar that is still forming', () => {
  const swept = open()
  swept.take({ ...series, resolution: '5' }, [bar(0)], true)
  expect(swept.watched('5', at(1), at(1))).toBe(at(0))
  expect(closed(swept, at(1))).toEqual([])
})

test('without any tick since its end, a bar closes by the clock', () => {
  const swept = open()
  swept.take(series, [bar(0)], true)
  expect(closed(swept, at(0.5), feedSeconds(at(1) - 1))).toEqual([])
  expect(closed(swept, at(0.5), at(1))).toEqual([[0, 1.1]])
})

test('a longer bar closes by the clock only in a post that has it, since its last value was not posted before', () => {
  const swept = open()
  const hour = { ...series, resolution: '60' } as const
  swept.take(hour, [bar(0, '1.11')], true)
  closed(swept, at(0))
  expect(closed(swept, at(59), at(60))).toEqual([])
  swept.take(hour, [bar(0, '1.12')], true)
  expect(closed(swept, at(59), at(60))).toEqual([[0, 1.12]])
})

test('with a tick since its end, a bar does not close by the clock: the sweep is late', () => {
  const swept = open()
  swept.take(series, [bar(0)], true)
  closed(swept, at(0.5))
  expect(closed(swept, at(1), at(1.5))).toEqual([])
})

test('of a series that is late no bar closes before its next ones come, since they may have its last value', () => {
  const swept = open()
  swept.take(series, [bar(0)], true)
  closed(swept, at(0))
  swept.late(series)
  expect([...swept.lateOf('1')]).toEqual(['EURUSD'])
  expect(swept.watched('1', at(1), at(0.5))).toBe(at(1))
  expect(closed(swept, at(0.5), at(1))).toEqual([])
  swept.take(series, [bar(0, '1.15'), bar(1)], true)
  expect(closed(swept, at(1))).toEqual([[0, 1.15]])
  expect([...swept.lateOf('1')]).toEqual([])
})

test('a bar of a delayed symbol is closed by its own later bar only', () => {
  const swept = open('EURUSD')
  swept.take(series, [bar(0)], true)
  expect(swept.watched('1', at(30), at(30))).toBe(at(30))
  expect(closed(swept, at(30), at(30))).toEqual([])
  swept.take(series, [bar(1)], true)
  expect(closed(swept, at(30))).toEqual([[0, 1.1]])
})

test('closed bars that are sent again are reported only with another value', () => {
  const swept = open()
  swept.take(series, [bar(0), bar(1), bar(2)], true)
  closed(swept, at(2))
  swept.take(series, [bar(0), bar(1, '1.15'), bar(2)], true)
  expect(closed(swept, at(2))).toEqual([[1, 1.15]])
  swept.take(series, [bar(0), bar(1, '1.15')], false)
  expect(closed(swept, at(2))).toEqual([])
})

test('a closed bar that changes and changes back is reported each time', () => {
  const swept = open()
  swept.take(series, [bar(0), bar(1)], true)
  closed(swept, at(1))
  swept.take(series, [bar(0, '1.15'), bar(1)], true)
  expect(closed(swept, at(1))).toEqual([[0, 1.15]])
  swept.take(series, [bar(0), bar(1)], true)
  expect(closed(swept, at(1))).toEqual([[0, 1.1]])
})

test('bars of a post that was not taken are reported again', () => {
  const swept = open()
  swept.take(series, [bar(0), bar(1)], true)
  const lost = swept.closed(at(1), undefined, true)
  swept.forget(lost)
  swept.take(series, [bar(0), bar(1)], true)
  expect(closed(swept, at(1))).toEqual([[0, 1.1]])
})

test('an older bar that is marked open has closed, since a later one exists', () => {
  const swept = open()
  swept.take(series, [bar(5)], true)
  closed(swept, at(5))
  swept.take(series, [bar(3)], true)
  expect(closed(swept, at(5))).toEqual([[3, 1.1]])
})

test('after the broker set its clock back, the bar before it closes and the new one is forming', () => {
  const swept = open()
  swept.take(series, [bar(59)], true)
  closed(swept, at(59))
  swept.take(series, [bar(0, '1.19')], true)
  expect(closed(swept, at(0))).toEqual([[59, 1.1]])
  swept.take(series, [bar(0, '1.18'), bar(1)], true)
  expect(closed(swept, at(1))).toEqual([[0, 1.18]])
})

test('times that repeat or descend become ascending bars, the later line counts', () => {
  const swept = open()
  swept.take(series, [bar(1), bar(0), bar(1, '1.17'), bar(2)], true)
  expect(closed(swept, at(2))).toEqual([
    [0, 1.1],
    [1, 1.17],
  ])
})
