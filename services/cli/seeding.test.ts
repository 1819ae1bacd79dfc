import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { reportSeeding } from './seeding.ts'

function start(bars: readonly number[], watched = false) {
  const clock = createVirtualClock()
  const lines: string[] = []
  let asked = 0
  const backfilled = async () => bars[Math.min(asked++, bars.length - 1)] ?? 0
  reportSeeding({ backfilled }, { clock, watched, err: (text) => void lines.push(text) })
  return { clock, lines }
}

test('the history that comes in behind a start is counted for whoever watches, until it is read', async () => {
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

test('on a terminal the beginning and the end are reported alone', async () => {
  const { clock, lines } = start([1_000, 2_500_000, 2_600_000], true)
  await clock.advance(120_000)
  expect(lines).toEqual(['reading history in the background\n', 'history is read: 2,600,000 bars\n'])
})

test('a start that has nothing to read says nothing', async () => {
  const { clock, lines } = start([0])
  await clock.advance(120_000)
  expect(lines).toEqual([])
  expect(clock.pending).toBe(0)
})
