import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type RevisedBar, toList } from '../../services/core/bar.ts'
import { compoundKey } from '../../services/core/compound-key.ts'
import { feedSeconds } from '../../services/core/feed-clock.ts'
import { effort } from '../support/effort.ts'
import { defineFeed, startIngest } from '../support/ingest-house.ts'
import { oneServer } from '../support/questdb/one-server.ts'
import { openInTest } from '../support/questdb/stores.ts'
import { checkHistory } from './check-history.ts'
import { Feeder } from './feeder.ts'
import { seeded } from './seeded.ts'

const server = oneServer()
/** `make soak` makes it forty. */
const kills = Math.max(1, Math.round(2 * effort))
const minuteSeconds = 60
const symbols = ['EURUSD', 'GBPUSD', 'USDCHF']
const feed = defineFeed({
  symbols: { list: symbols.map((raw) => ({ raw, type: 'forex', digits: 5 })) },
  resolutions: ['1'],
})

/** Every number follows from the revision, so that two readings never look alike. */
function barOf(time: number, revision: number): RevisedBar {
  const steps = revision % 40_000
  return {
    time: feedSeconds(time),
    open: 1.1,
    high: 2,
    low: 0.5,
    close: (110_000 + steps) / 100_000,
    volume: steps,
    revision,
  }
}

test('QuestDB killed again and again while bars, corrections and backfill flow: all that was acknowledged is there, once, as last corrected', {
  timeout: 60_000 + kills * 40_000,
}, async () => {
  const { random, seed } = seeded()
  console.log(`FXD_TEST_SEED=${seed}: ${kills} kills`)
  const { stores } = await openInTest(server())
  const { bars, windows, registry } = stores
  const house = await startIngest([feed], { around: (own) => ({ ...own, bars, windows, registry }) })
  onTestFinished(() => house.remove())

  const any = (count: number): number => Math.floor(random() * count)
  const anySymbol = (): string => symbols[any(symbols.length)] as string
  const begun = Math.floor(Date.now() / 1_000 / minuteSeconds) * minuteSeconds - 30 * 86_400
  let revision = Date.now() - 86_400_000
  let minute = 0
  const live = new Feeder({
    address: house.address,
    feed: feed.key,
    mode: 'LIVE',
    next() {
      minute++
      const batch = new Map<string, RevisedBar[]>()
      for (const symbol of symbols) {
        const newest = barOf(begun + minute * minuteSeconds, ++revision)
        // A correction, or a reading older than what is stored: that one must change nothing.
        const earlier = begun + any(minute) * minuteSeconds
        const again = barOf(earlier, random() < 0.7 ? ++revision : revision - 1 - any(5_000))
        batch.set(symbol, random() < 0.5 && minute > 1 ? [again, newest] : [newest])
      }
      return batch
    },
  })
  let backfilled = 0
  const backfill = new Feeder({
    address: house.address,
    feed: feed.key,
    mode: 'IMPORT',
    next() {
      const size = 200 + any(800)
      const first = begun - 400 * 86_400 + backfilled * minuteSeconds
      // The next batch begins inside of this one.
      backfilled += size - any(100)
      const list = Array.from({ length: size }, (_, i) => barOf(first + i * minuteSeconds, ++revision))
      return new Map([[anySymbol(), list]])
    },
  })
  const running = [live.run(), backfill.run()]
  const flows = async (): Promise<void> => {
    const before = [live.ackedBatches, backfill.ackedBatches] as const
    await expect
      .poll(() => live.ackedBatches > before[0] + 15 && backfill.ackedBatches > before[1] + 2, {
        timeout: 40_000,
        interval: 20,
      })
      .toBe(true)
  }
  try {
    for (let kill = 0; kill < kills; kill++) {
      await flows()
      await pause(any(500))
      await server().kill()
      await pause(any(300))
      await server().start()
    }
    await flows()
  } finally {
    live.stop()
    backfill.stop()
  }
  await Promise.all(running)

  const stored = new Map<string, RevisedBar[]>()
  for (const symbol of symbols) {
    const series = { feed: feed.key, symbol: compoundKey(feed.key, symbol), resolution: '1' } as const
    const always = { from: feedSeconds(0), to: feedSeconds(2 ** 33) }
    stored.set(symbol, toList(await bars.read({ series, ...always })))
  }
  const readings = [...live.readings, ...backfill.readings]
  expect(readings.every(({ acked }) => acked)).toBe(true)
  expect(checkHistory(readings, stored), `FXD_TEST_SEED=${seed}`).toEqual([])
  console.log(
    `${readings.length} readings in ${live.ackedBatches + backfill.ackedBatches} batches, ` +
      `${live.broken + backfill.broken} sessions broken`,
  )
})
