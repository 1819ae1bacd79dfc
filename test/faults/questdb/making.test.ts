import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Unavailable } from '../../../services/core/failure.ts'
import { type FeedKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import type { BarStore } from '../../../services/ports/bars.ts'
import { batchOf, minuteBar, seriesOf } from '../../contract/suites/sample-bars.ts'
import { effort } from '../../support/effort.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { seeded } from '../support/seeded.ts'

const server = oneServer()
const kills = Math.max(3, Math.round(effort))
const feedsPerKill = 12
/** Range of the moment of a kill; creating a table takes some tens of ms. */
const spreadMs = 400
const untilAnswered = { timeout: 60_000, interval: 20 }

const write = (bars: BarStore, feed: FeedKey): Promise<void> =>
  bars.write([batchOf(seriesOf('A', '60', feed), [minuteBar(0)])], 'live')

/** Number of series of the feed in the store; -1 while it is unavailable. */
const seriesCount = (bars: BarStore, feed: FeedKey): Promise<number> =>
  bars.lastTimes(feed).then(
    ({ size }) => size,
    (cause: unknown) => {
      expect(cause).toBeInstanceOf(Unavailable)
      return -1
    },
  )

test('QuestDB killed while tables are created leaves no broken table, and no stored table is missing once it answers', {
  timeout: 60_000 + kills * 120_000,
}, async () => {
  const { random, seed } = seeded()
  const hint = `FXD_TEST_SEED=${seed}`
  const { stores } = await openInTest(server())
  const written: FeedKey[] = []
  for (let kill = 0; kill < kills; kill++) {
    const feeds = Array.from({ length: feedsPerKill }, (_, i) => feedKey(`K${kill}X${i}`, 'A'))
    const making = Promise.allSettled(
      feeds.map((feed) => write(stores.bars, feed).then(() => void written.push(feed))),
    )
    await pause(random() * spreadMs)
    const before = [...written]
    await server().kill()
    await server().start()
    for (const feed of before) {
      let series = -1
      while (series < 0) series = await seriesCount(stores.bars, feed)
      expect(series, `${hint}: ${feed} has bars`).toBe(1)
    }
    await making
    for (const feed of feeds)
      await expect
        .poll(
          () =>
            write(stores.bars, feed).then(
              () => 'stored',
              ({ cause }: Unavailable) => String(cause),
            ),
          untilAnswered,
        )
        .toBe('stored')
    written.push(...feeds.filter((feed) => !written.includes(feed)))
  }
  await stores.bars.ping()
  console.log(`${hint}: ${kills} kills while ${written.length} tables were made`)
})
