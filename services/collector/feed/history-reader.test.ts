import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { FakeTerminal, fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { silentLog } from '../../platform/log/log.ts'
import type { LaneRouter } from '../connection/lane-router.ts'
import type { WindowSender } from '../connection/window-sender.ts'
import { CollectedSeries } from '../series/collected-series.ts'
import { KnownFeed } from '../series/known-feed.ts'
import { sourceReadsMax } from '../source.ts'
import type { FeedTime } from './feed-time.ts'
import { HistoryReader } from './history-reader.ts'
import { SourceReader } from './source-reader.ts'

const day = 86_400
const now = feedSeconds(Date.UTC(2026, 0, 5) / 1_000)

test('while the bars of all reads wait for room, the source is asked for others', async () => {
  const clock = createVirtualClock({ start: now * 1_000 })
  const { signal } = new AbortController()
  const names = Array.from({ length: 3 * sourceReadsMax }, (_, n) => `S${n}`)
  const source = new FakeTerminal(
    names.map((name) => fakeSymbol(name)),
    () => now,
  )
  const waiting: string[] = []
  const sendHistory = ({ raw }: { readonly raw: string }) => {
    waiting.push(raw)
    return new Promise<never>(() => undefined)
  }
  const lanes = { idle: async () => undefined, sendHistory } as unknown as LaneRouter
  const time = { now: () => now } as FeedTime
  const windows = {} as WindowSender
  const reader = new SourceReader({ source, clock, log: silentLog, signal })
  const history = new HistoryReader({ windows, reader, lanes, time, signal })
  for (const raw of names) {
    const of = { raw, resolution: '1', name: raw, scale: 5, delaySeconds: 0, since: undefined } as const
    const span = { from: feedSeconds(now - 2 * day), to: feedSeconds(now - day) }
    history.add(new CollectedSeries(of, new KnownFeed([]), now), [span])
  }
  void history.run()
  await expect.poll(() => waiting.length).toBe(2 * sourceReadsMax)
  expect(source.reads).toHaveLength(2 * sourceReadsMax)
})
