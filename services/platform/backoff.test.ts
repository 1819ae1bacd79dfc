import { expect, test } from 'vitest'
import { Backoff } from './backoff.ts'

const middle = { random: () => 0.5 }

test('pauses double up to the maximum; after a success the next pause is the first one', () => {
  const backoff = new Backoff(middle, { firstMs: 100, maxMs: 500, jitter: 'none' })
  expect([1, 2, 3, 4, 5].map(() => backoff.nextMs())).toEqual([100, 200, 400, 500, 500])
  backoff.reset()
  expect(backoff.nextMs()).toBe(100)
})

test.each([
  { jitter: 'full' as const, least: 0, most: 100 },
  { jitter: 'half' as const, least: 50, most: 150 },
])('$jitter jitter spreads a pause of 100 ms over $least to $most ms', ({ jitter, least, most }) => {
  const pauseAt = (random: number): number =>
    new Backoff({ random: () => random }, { firstMs: 100, jitter }).nextMs()
  expect([pauseAt(0), pauseAt(0.5), pauseAt(0.999_999)]).toEqual([least, (least + most) / 2, most])
})
