import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { effort } from '../support/effort.ts'
import { oneServer } from '../support/questdb/one-server.ts'
import { Feeder } from './feeder.ts'
import { FxdProcess } from './fxd-process.ts'
import { Market, manifest } from './market.ts'
import { expectNothingLost, flows } from './quiet.ts'
import { seeded } from './seeded.ts'

const server = oneServer()
/** Of each victim: `make soak` makes it thirty. */
const killsOfEach = Math.max(2, Math.round(1.5 * effort))
/** Of a hundred kills so many take both at once. */
const bothPercent = 20

test('QuestDB and fxd killed again and again while bars, corrections and backfill flow: all that was acknowledged is there, once, as last corrected', {
  timeout: 120_000 + killsOfEach * 120_000,
}, async () => {
  const { random, seed } = seeded()
  const hint = `FXD_TEST_SEED=${seed}`
  const market = new Market(random)
  const fxd = await FxdProcess.start({ ...server(), prefix: 'kill_', manifests: [manifest] })
  await fxd.takeKey()
  const live = new Feeder({ ingest: fxd, mode: 'LIVE', next: () => market.live() }).start()
  const history = new Feeder({ ingest: fxd, mode: 'IMPORT', next: () => market.history() }).start()
  const feeders = [live, history]

  const killed = { questdb: 0, fxd: 0 }
  let slowestMs = 0
  while (killed.questdb < killsOfEach || killed.fxd < killsOfEach) {
    await flows(feeders, 5)
    await pause(market.any(700))
    const isBoth = market.any(100) < bothPercent
    const questdb = isBoth || killed.questdb <= killed.fxd
    const own = isBoth || !questdb
    await Promise.all([questdb && server().kill(), own && fxd.kill()])
    killed.questdb += Number(questdb)
    killed.fxd += Number(own)
    await pause(market.any(300))
    // fxd may come first: it waits for its store.
    await Promise.all([questdb && server().start(), own && fxd.start()])
    const begun = performance.now()
    await flows(feeders, 1)
    slowestMs = Math.max(slowestMs, performance.now() - begun)
  }
  await flows(feeders, 5)
  await expectNothingLost(feeders, market, [fxd], hint)
  expect(await fxd.metric('fxd_questdb_suspended_tables')).toBe(0)
  const readings = feeders.reduce((sum, feeder) => sum + feeder.readings.length, 0)
  const batches = feeders.reduce((sum, { ackedBatches }) => sum + ackedBatches, 0)
  console.log(
    `${hint}: QuestDB killed ${killed.questdb} times, fxd ${killed.fxd}; ${readings} readings in ${batches} ` +
      `batches, ${live.broken + history.broken} sessions broken, the slowest return took ${Math.round(slowestMs)} ms`,
  )
})
