import { expect, test } from 'vitest'
import { feedKey } from '../../core/feeds/compound-key.ts'
import { unackedBarsMax, WaitingBars } from './waiting-bars.ts'

const [big, small] = [feedKey('BROKERA', 'BIG'), feedKey('BROKERA', 'SMALL')]
const mib = 1024 * 1024
const ignore = (): void => undefined

test('above 64 MiB of waiting rows the feed with the most is paused, and a feed with few is not', () => {
  let bytes = new Map([
    [big, 40 * mib],
    [small, 10 * mib],
  ])
  const waiting = new WaitingBars({ waitingBytes: () => bytes })
  expect([waiting.isFull(big, ignore), waiting.isFull(small, ignore)]).toEqual([false, false])
  bytes = new Map([
    [big, 60 * mib],
    [small, 10 * mib],
  ])
  expect([waiting.isFull(big, ignore), waiting.isFull(small, ignore)]).toEqual([true, false])
})

test('a paused feed is told once when less waits', async () => {
  const waiting = new WaitingBars({ waitingBytes: () => new Map() })
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  waiting.add(big, unackedBarsMax, first.promise)
  waiting.add(small, 1, second.promise)
  let resumed = 0
  expect(waiting.isFull(big, () => void (resumed += 1))).toBe(true)
  first.resolve()
  second.resolve()
  await expect.poll(() => resumed).toBe(1)
  expect(waiting.isFull(big, ignore)).toBe(false)
})

test('a batch of one bar counts as ten, since each batch takes memory', () => {
  const waiting = new WaitingBars({ waitingBytes: () => new Map() })
  for (let i = 0; i < unackedBarsMax / 10; i++) waiting.add(big, 1, new Promise(ignore))
  expect(waiting.isFull(big, ignore)).toBe(true)
  expect(waiting.isFull(small, ignore)).toBe(false)
})
