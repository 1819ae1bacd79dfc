import { expect, test } from 'vitest'
import {
  a,
  fixture,
  subscribed,
  useLossyStream,
} from '../../../test/support/fixtures/lossy-stream-fixture.ts'
import { minuteBar, minutesOf, zero } from '../../../test/support/fixtures/stream-fixture.ts'

useLossyStream()

test('a bar that is not newer than the last of its symbol is never pushed', async () => {
  const socket = await subscribed(a)
  for (const minute of [5, 5, 4, 6, 1, 6]) await fixture.publish([a], minute)
  await socket.settled()
  expect(minutesOf(socket, a)).toEqual([5, 6])
})

test('only closed minutes are pushed', async () => {
  const socket = await subscribed(a)
  const bar = minuteBar(5)
  const bars = (['5', '60', '1D'] as const).map((resolution) => ({ symbol: a, resolution, bar }))
  await fixture.stores.bus.publish({ type: 'bars', feed: zero, bars }, 1)
  await fixture.publish([a], 6)
  await socket.settled()
  expect(minutesOf(socket, a)).toEqual([6])
})
