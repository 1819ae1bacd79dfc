import { expect, test } from 'vitest'
import { barCount } from '../../../core/bars/bar.ts'
import type { Span } from '../../../core/bars/window.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { TerminalBar } from '../../../core/terminal/lines.ts'
import { NotLoadedYet } from '../../source.ts'
import { Wants } from './wants.ts'

const series = { raw: 'EURUSD', resolution: '1' } as const
const span = (from: number, to: number): Span => ({ from: feedSeconds(from * 60), to: feedSeconds(to * 60) })
const never = new AbortController().signal

const bars = (...minutes: number[]): TerminalBar[] =>
  minutes.map((at) => ({ time: feedSeconds(at * 60), open: '1', high: '1', low: '1', close: '1', volume: 1 }))

const minutesOf = (list: readonly TerminalBar[]): number[] => list.map(({ time }) => time / 60)

/** A read that the terminal was asked for. */
function ask(wanted: Span) {
  const wants = new Wants()
  const read = wants.read(series, wanted, never).then((answer) => ({
    minutes: [...answer.bars.time].map((time) => time / 60),
    complete: answer.complete,
  }))
  return { wants, read, told: wants.lines }
}

test('a read is one range that is wanted until it is answered', async () => {
  const { wants, read, told } = ask(span(10, 20))
  expect(told).toEqual([{ line: 'want', series, span: span(10, 20) }])
  expect(wants.lines).toEqual(told)
  expect(wants.take(series, bars(11, 12), false)).toEqual([])
  wants.take(series, bars(15), false)
  wants.complete(series, span(10, 20))
  expect(await read).toEqual({ minutes: [11, 12, 15], complete: span(10, 20) })
  expect(wants.lines).toEqual([])
})

test('bars outside of the range, of another series, or before the terminal was asked are no answer', () => {
  const { wants } = ask(span(10, 20))
  expect(minutesOf(wants.take(series, bars(9, 10, 19, 20), false))).toEqual([9, 20])
  expect(minutesOf(wants.take({ ...series, raw: 'GBPUSD' }, bars(10), false))).toEqual([10])
  const unasked = new Wants()
  void unasked.read(series, span(10, 20), never)
  expect(minutesOf(unasked.take(series, bars(11), false))).toEqual([11])
})

test('the bar that is forming is no part of the answer, and nothing claims its time', async () => {
  const { wants, read } = ask(span(10, 20))
  expect(minutesOf(wants.take(series, bars(11, 12), true))).toEqual([12])
  wants.complete(series, span(10, 20))
  expect(await read).toEqual({ minutes: [11], complete: span(10, 12) })
})

test('the bar that was forming, and later ones, are swept while the range is still read', async () => {
  const { wants, read } = ask(span(10, 20))
  wants.take(series, bars(11, 12), true)
  expect(minutesOf(wants.take(series, bars(11, 12, 13), true, feedSeconds(12 * 60)))).toEqual([12, 13])
  wants.complete(series, span(10, 20))
  expect((await read).complete).toEqual(span(10, 13))
})

test('a bar that formed in the last session of the terminal is part of the answer once it comes closed', async () => {
  const { wants, read } = ask(span(10, 20))
  wants.take(series, bars(11, 12), true)
  wants.restart()
  expect(wants.lines).toHaveLength(1)
  wants.take(series, bars(11, 12), false)
  wants.complete(series, span(10, 20))
  expect(await read).toEqual({ minutes: [11, 12], complete: span(10, 20) })
})

test('history that the terminal still loads is not loaded yet', async () => {
  const { wants, read } = ask(span(10, 20))
  expect(wants.loading(series)).toBe(true)
  await expect(read).rejects.toBeInstanceOf(NotLoadedYet)
  expect(wants.lines).toEqual([])
})

test('of a range that the terminal can give in part, the rest is asked for and claimed', async () => {
  const { wants, read } = ask(span(10, 20))
  wants.beyond(series, feedSeconds(15 * 60))
  expect(wants.lines).toEqual([{ line: 'want', series, span: span(15, 20) }])
  wants.take(series, bars(16), false)
  wants.complete(series, span(15, 20))
  expect(await read).toEqual({ minutes: [16], complete: span(15, 20) })
})

test('a part that was answered before the terminal said where its bars begin is claimed', async () => {
  const { wants, read } = ask(span(10, 20))
  wants.take(series, bars(16), false)
  wants.complete(series, span(15, 20))
  wants.beyond(series, feedSeconds(15 * 60))
  expect(await read).toEqual({ minutes: [16], complete: span(15, 20) })
})

test('a range before the oldest bar ends without a claim, and is not asked for again', async () => {
  const { wants, read } = ask(span(10, 20))
  wants.beyond(series, feedSeconds(20 * 60))
  expect(await read).toEqual({ minutes: [], complete: undefined })
  const again = await wants.read(series, span(0, 10), never)
  expect([barCount(again.bars), again.complete, wants.lines]).toEqual([0, undefined, []])
})

test('a new session of the terminal is asked for the whole range again, and bars that it was not asked for do not count', async () => {
  const { wants, read, told } = ask(span(10, 20))
  wants.take(series, bars(11), false)
  wants.restart()
  expect(minutesOf(wants.take(series, bars(12), false))).toEqual([12])
  expect(wants.lines).toEqual(told)
  wants.take(series, bars(13), false)
  wants.complete(series, span(10, 20))
  expect((await read).minutes).toEqual([13])
})

test('a read that is aborted is not wanted any more', async () => {
  const ending = new AbortController()
  const wants = new Wants()
  const read = wants.read(series, span(10, 20), ending.signal)
  expect(wants.lines).toHaveLength(1)
  ending.abort(new Error('the session ended'))
  await expect(read).rejects.toThrow('the session ended')
  expect(wants.lines).toEqual([])
})
