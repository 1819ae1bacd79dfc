import { expect, test } from 'vitest'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { CollectedSeries, missingHistory, waitingClaimsMax } from './collected-series.ts'
import { KnownFeed } from './known-feed.ts'

const of = { raw: 'A', resolution: '1', name: 'A', scale: 0, delaySeconds: 0, since: undefined } as const
const span = (from: number, to: number) => ({ from: feedSeconds(from), to: feedSeconds(to) })

test('a series that waits for days to be read keeps one claim for minutes without a hole', () => {
  const series = new CollectedSeries(of, new KnownFeed([]), undefined)
  for (let i = 0; i < 5_000; i++) series.keepClaim(span(60 * i, 60 * (i + 1)))
  expect(series.waitingClaims).toEqual([span(0, 60 * 5_000)])
})

test('claims of a waiting series are bounded, and the newest are kept', () => {
  const series = new CollectedSeries(of, new KnownFeed([]), undefined)
  for (let i = 0; i < 1_000; i++) series.keepClaim(span(120 * i, 120 * i + 60))
  expect(series.waitingClaims).toHaveLength(waitingClaimsMax)
  expect(series.waitingClaims.at(-1)).toEqual(span(120 * 999, 120 * 999 + 60))
})

test('history since 1970 is missing from second 1 on, and not missing once it is covered', () => {
  const now = feedSeconds(1_767_614_400)
  const depth = { since: feedSeconds(0) }
  const series = new CollectedSeries(of, new KnownFeed([]), now)
  const [missing] = missingHistory(series, depth, now)
  expect(missing).toEqual(span(1, series.historyEnd + 1))
  expect(
    missingHistory({ historyEnd: series.historyEnd, covered: missing ? [missing] : [] }, depth, now),
  ).toEqual([])
})
