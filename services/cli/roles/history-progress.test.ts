import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { reportHistory } from './history-progress.ts'

function start(bars: readonly number[], watched = false) {
  const clock = createVirtualClock()
  const lines: string[] = []
  let calls = 0
  const backfilled = async () => bars[Math.min(calls++, bars.length - 1)] ?? 0
  reportHistory({ backfilled }, { clock, watched, err: (text) => void lines.push(text) })
  return { clock, lines }
}

test('the history read after a start is counted on standard error until it is complete', async () => {
  const { clock, lines } = start([1_000, 2_500_000, 2_500_000, 2_600_000])
  await clock.advance(120_000)
  expect(lines).toEqual([
    'reading history: 1,000 bars so far\n',
    'reading history: 2,500,000 bars so far\n',
    'reading history: 2,600,000 bars so far\n',
    'history is read: 2,600,000 bars\n',
  ])
  expect(clock.pending).toBe(0)
})

test('on a terminal only the beginning and the end are reported', async () => {
  const { clock, lines } = start([1_000, 2_500_000, 2_600_000], true)
  await clock.advance(120_000)
  expect(lines).toEqual(['reading history in the background\n', 'history is read: 2,600,000 bars\n'])
})

test('a start without history to read prints nothing', async () => {
  const { clock, lines } = start([0])
  await clock.advance(120_000)
  expect(lines).toEqual([])
  expect(clock.pending).toBe(0)
})
