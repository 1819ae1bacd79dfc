import { expect, test } from 'vitest'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { FolderTicks } from './folder-ticks.ts'

const minute = 60
const four = 4 * 3_600
/** The ticks among these lines: minutes after four o'clock, each with the newest minute of its file. */
function ticksOf(lines: readonly (readonly [line: number, newestOfFile?: number])[]): number[] {
  const ticks = new FolderTicks()
  const at = (minutes: number) => feedSeconds(four + minutes * minute)
  return lines.flatMap(([line, newest]) =>
    ticks.take(at(line), newest === undefined ? undefined : at(newest)) ? [line] : [],
  )
}

test('a late line of another file is no tick', () => {
  expect(ticksOf([[0], [1, 0], [-9, -20], [2, 1], [-60], [3, 2]])).toEqual([0, 1, 2, 3])
})

test('lines of files whose own minutes go back are ticks until the newest minute comes again', () => {
  expect(
    ticksOf([
      [-1, -2],
      // The clock is set back by an hour.
      [-60, -1],
      [-59, -1],
      // The last line of a file that got it late, and a late repeated line.
      [-2, -20],
      [-60, -2],
      [-58, -1],
      [-1, -1],
      [0, -1],
      [1, 0],
    ]),
  ).toEqual([-1, -60, -59, -58, -1, 0, 1])
})

test('the clock may be set back again later', () => {
  expect(
    ticksOf([
      [0, -1],
      [-60, 0],
      [0, 0],
      [600, 599],
      [540, 600],
      [541, 600],
    ]),
  ).toEqual([0, -60, 0, 600, 540, 541])
})

test('lines more than two hours older are history, and no ticks', () => {
  expect(
    ticksOf([
      [0, -1],
      [-121, 0],
      [-120, 0],
    ]),
  ).toEqual([0, -120])
})
