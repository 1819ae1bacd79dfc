import { expect, test } from 'vitest'
import { seriesId } from '../../core/bars/series.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../core/feeds/compound-key.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { type FirstReadFacts, firstReads, startsOf } from './first-read.ts'

const feed = feedKey('BROKERA', 'ZERO')
const symbol = compoundKey(feed, 'EURUSD')
const now = 1_700_000_000
const day = 86_400
const bars = (...of: Resolution[]) =>
  new Map(of.map((resolution) => [seriesId({ symbol, resolution }), feedSeconds(now - 60)]))
const window = (resolution: Resolution, from: number) => ({
  feed,
  symbol,
  resolution,
  from: feedSeconds(from),
  to: feedSeconds(now),
})
const depth = { '1': { seconds: 90 * day } }

test.each<[string, Partial<FirstReadFacts>, string]>([
  ['a symbol without bars is none', {}, 'none'],
  ['bars without a window are being read', { newest: bars('1') }, 'reading'],
  [
    'a feed-wide window does not count as read history',
    { newest: bars('1'), startOf: startsOf([{ ...window('1', 0), symbol: undefined }]) },
    'reading',
  ],
  [
    'bars with a window of their symbol are read',
    { newest: bars('1'), startOf: startsOf([window('1', 5)]) },
    'done',
  ],
  [
    'another resolution without a window is being read',
    { newest: bars('1', '60'), startOf: startsOf([window('1', 5)]) },
    'reading',
  ],
  [
    'windows that do not reach the depth yet are being read',
    { newest: bars('1'), startOf: startsOf([window('1', now - 30 * day)]), depth },
    'reading',
  ],
  [
    'windows that reach the depth are read',
    { newest: bars('1'), startOf: startsOf([window('1', now - 89.5 * day)]), depth },
    'done',
  ],
  [
    'a depth is ignored while the clock of the feed is unknown',
    { newest: bars('1'), startOf: startsOf([window('1', now - 30 * day)]), depth, feedNow: undefined },
    'done',
  ],
])('%s', (_, facts, expected) => {
  const given = { startOf: startsOf([]), newest: bars(), depth: undefined, feedNow: now, ...facts }
  expect(firstReads(given)({ symbol })).toBe(expected)
})
