import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { messagePartitionsMax } from '../../../services/core/bars/partitions.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../services/core/feeds/feed.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { openEmbeddedStores } from '../../../services/stores/embedded/open.ts'
import { batchOf, minuteBar, readList, seriesOf } from '../../contract/suites/sample-bars.ts'
import { RawSession, seriesAt } from '../../support/clients/raw-session.ts'
import { defineFeed, openIngestFixture } from '../../support/fixtures/ingest-fixture.ts'
import { temporaryFolder } from '../../support/fixtures/temporary-folder.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'

const server = oneServer()
const week = 7 * 86_400
/** Weeks since 1970. */
const weeks = 2_964
/** Maximum memory maps in these tests; the usual limit of a machine is 65,530. */
const mapsMax = 15_000

/** The greatest number of memory maps of the server until the test ends. */
function watchMaps(): { peak: number } {
  const { pid } = server()
  const watched = { peak: 0 }
  const timer = setInterval(() => {
    const maps = readFileSync(`/proc/${pid}/maps`, 'latin1').split('\n').length
    watched.peak = Math.max(watched.peak, maps)
  }, 20)
  onTestFinished(() => clearInterval(timer))
  return watched
}

const weekly = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => (from + i) * week + 4 * 86_400)

/** A feed with one table for M1, so that all readers read the same partitions. */
const feedOf = (account: string): FeedDefinition =>
  defineFeed({
    account,
    storage: { buckets: 1 },
    resolutions: ['1'],
    symbols: { list: ['A', 'B', 'C', 'D'].map((raw) => ({ raw, type: 'forex', digits: 5 })) },
  })

const suspended = (): Promise<readonly (readonly unknown[])[]> =>
  server().exec('SELECT name FROM wal_tables() WHERE suspended')

test('reads over 2,964 weeks of a scattered series take few memory maps, whoever reads', {
  timeout: 300_000,
}, async () => {
  const { stores } = await openInTest(server())
  const definition = feedOf('READ')
  await stores.registry.append(0, [{ kind: 'feed', id: definition.key, body: { definition, hidden: false } }])
  const series = seriesOf('A', '1', definition.key)
  const bars = weekly(0, weeks).map((time) => ({ ...minuteBar(0), time: feedSeconds(time) }))
  // In parts: one write of all of them may take longer than its deadline.
  for (let i = 0; i < weeks; i += 100)
    await stores.bars.write([batchOf(series, bars.slice(i, i + 100))], 'live')
  const old = { ...minuteBar(0), time: feedSeconds(4 * 86_400 + 60) }
  await stores.bars.write([batchOf(seriesOf('B', '1', definition.key), [old])], 'live')
  const maps = watchMaps()
  for (const end of ['newest', 'oldest'] as const) {
    const take = { count: 5_000, end }
    const read = () => readList(stores.bars, series, { take, lane: 'backfill' })
    expect((await Promise.all([read(), read(), read(), read()])).map(({ length }) => length)).toEqual(
      Array.from({ length: 4 }, () => weeks),
    )
  }
  const times = await stores.bars.lastTimes(definition.key, { lane: 'backfill' })
  console.log(`reads: at most ${maps.peak} memory maps`)
  expect(maps.peak).toBeLessThan(mapsMax)
  expect([...times.values()].toSorted((a, b) => a - b)).toEqual([old.time, weekly(weeks - 1, 1)[0]])
})

test('a message of 2,964 weeks and two scattered imports at once leave QuestDB and the tables of others alone', {
  timeout: 300_000,
}, async () => {
  const [attacker, victim] = [feedOf('ATTACK'), feedOf('VICTIM')]
  const { stores: questdb } = await openInTest(server())
  const embedded = await openEmbeddedStores({ folder: temporaryFolder(), clock: systemClock, log: silentLog })
  onTestFinished(() => embedded.close())
  const ingest = await openIngestFixture([attacker, victim], { stores: { ...embedded, ...questdb } })
  onTestFinished(() => ingest.remove())
  const { pid } = server()
  const maps = watchMaps()

  const live = new RawSession(ingest.address)
  await live.hello(attacker.key)
  const answer = await live.bars('LIVE', [seriesAt('A', weekly(0, weeks))])
  expect(answer.ack).toMatchObject({ accepted: 0 })
  expect(answer.refused[0]?.message).toContain('send it by time')

  const imports = [new RawSession(ingest.address), new RawSession(ingest.address)]
  for (const each of imports) await each.hello(attacker.key, { mode: 'IMPORT' })
  const posted = imports.flatMap((each, i) =>
    [0, 1, 2, 3, 4, 5].map((n) => {
      const from = (2 * n + i) * messagePartitionsMax
      return each.answer(each.post('BACKFILL', [seriesAt('A', weekly(from, messagePartitionsMax))]))
    }),
  )
  const stored = { count: 0 }
  for (const each of posted) each.then(() => (stored.count += 1)).catch(() => undefined)
  const collector = new RawSession(ingest.address)
  await collector.hello(victim.key)
  await expect.poll(() => stored.count, { timeout: 60_000 }).toBeGreaterThanOrEqual(4)
  const minute = Math.floor(systemClock.utcMs() / 60_000) * 60 - 120
  const fresh = await collector.bars('LIVE', [seriesAt('A', [minute])])
  expect(fresh.ack).toMatchObject({ accepted: 1 })
  const waiting = posted.length - stored.count
  // 100 partitions at once and 100 a minute: most of the 384 are not there yet.
  expect(waiting).toBeGreaterThan(0)
  const read = () =>
    readList(questdb.bars, seriesOf('A', '1', attacker.key), {
      take: { count: 5_000, end: 'newest' },
      lane: 'backfill',
    })
  await Promise.all([read(), read(), read(), read()])
  expect((await readList(questdb.bars, seriesOf('A', '1', victim.key))).map(({ time }) => time)).toEqual([
    minute,
  ])
  expect(await suspended()).toEqual([])
  expect(server().pid).toBe(pid)
  console.log(`attack: at most ${maps.peak} memory maps, ${stored.count} of ${posted.length} messages stored`)
  expect(maps.peak).toBeLessThan(mapsMax)
  await Promise.allSettled([...imports, live, collector].map((each) => each.close()))
  await Promise.allSettled(posted)
})
