import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feedSeconds } from '../core/clocks/feed-clock.ts'
import { decodeWindows, encodeWindows } from './window-times.ts'

test('decoded windows are those that were encoded, in any order', () => {
  expect(encodeWindows([{ from: feedSeconds(100), to: feedSeconds(160) }])).toEqual([100, 60])
  const time = fc.nat(2 ** 40).map(feedSeconds)
  fc.assert(
    fc.property(fc.array(fc.record({ from: time, to: time })), (windows) => {
      expect(decodeWindows(encodeWindows(windows))).toEqual(windows)
    }),
  )
})
