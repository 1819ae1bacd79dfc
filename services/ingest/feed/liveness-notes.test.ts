import { expect, onTestFinished, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import { defineFeed, openIngestFixture } from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { createLog } from '../../platform/log/log.ts'
import type { Stores } from '../../ports/stores.ts'

const feeds = ['ZERO', 'PRIME'].map((account) =>
  defineFeed({
    account,
    liveness: 'heartbeat',
    symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] },
  }),
)
const start = Date.UTC(2026, 0, 5, 12)
const noon = start / 1000

test('an unavailable feed board is logged once per outage, with any number of active feeds', async () => {
  const warnings: string[] = []
  const log = createLog('warn', { write: (line) => void warnings.push(JSON.parse(line).msg as string) })
  let isUnavailable = true
  let reports = 0
  const around = (stores: Stores): Stores => ({
    ...stores,
    board: {
      ...stores.board,
      note(feed, liveness) {
        reports += 1
        return isUnavailable ? Promise.reject(new Error('unavailable')) : stores.board.note(feed, liveness)
      },
    },
  })
  const clock = createVirtualClock({ start })
  const fixture = await openIngestFixture(feeds, { clock, log, around })
  onTestFinished(() => fixture.remove())
  const sessions = feeds.map(() => new RawSession(fixture.address))
  await Promise.all(sessions.map((session, i) => session.hello(feeds[i]?.key as string)))
  /** The bars of a minute and two heartbeats of each feed. */
  const live = async (minutesAgo: number): Promise<void> => {
    for (const session of sessions) {
      for (const second of [0, 5]) {
        const newestTick = noon - minutesAgo * 60 + second
        session.send({ heartbeat: { terminalConnected: true, newestTick } })
      }
      await session.bars('LIVE', [seriesAt('EURUSD', [noon - minutesAgo * 60])])
    }
  }
  await live(5)
  await live(4)
  expect(reports).toBe(20)
  expect(warnings).toHaveLength(1)
  isUnavailable = false
  await live(3)
  isUnavailable = true
  await live(2)
  expect(warnings).toEqual(Array(2).fill('feed board unavailable; feed liveness may be stale'))
})
