import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { mountSmallDisk, type SmallDisk } from '../../support/fixtures/small-disk.ts'
import { type QuestdbServer, startQuestdb } from '../../support/questdb/server.ts'
import { Feeder } from '../support/feeder.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { Market, manifest } from '../support/market.ts'
import { Poller } from '../support/poller.ts'
import { expectNothingLost, flows } from '../support/quiet.ts'
import { seeded } from '../support/seeded.ts'

const diskBytes = 300 * 2 ** 20
const leftBytes = 2 * 2 ** 20
const pollOptions = { timeout: 200_000, interval: 200 }
/** Minimum time for which the disk is full: longer than any deadline of ingest. */
const fullMsMin = 40_000

async function startOnSmallDisk(): Promise<{ disk: SmallDisk; server: QuestdbServer }> {
  const disk = mountSmallDisk(diskBytes)
  const starting = startQuestdb({ folder: disk.folder })
  onTestFinished(async () => {
    await starting.then(
      (server) => server.stop(),
      () => undefined,
    )
    disk.remove()
  })
  return { disk, server: await starting }
}

test('a full disk of QuestDB is reported, delays acks, ends no session and loses no bar; nothing hangs, and once space is free fxd recovers', {
  timeout: 600_000,
}, async () => {
  const { random, seed } = seeded()
  const { disk, server } = await startOnSmallDisk()
  const market = new Market(random)
  const fxd = await FxdProcess.start({ ...server, prefix: 'full_', manifests: [manifest] })
  await fxd.takeKey()
  const live = new Feeder({ ingest: fxd, mode: 'LIVE', next: () => market.live() }).start()
  const history = new Feeder({ ingest: fxd, mode: 'IMPORT', next: () => market.history(5_000) }).start()
  const feeders = [live, history]
  await flows(feeders, 5)

  disk.fill(leftBytes)
  await expect.poll(() => fxd.metric('fxd_questdb_suspended_tables'), pollOptions).toBeGreaterThan(0)
  await expect.poll(() => fxd.platformStatus(), pollOptions).toBe('degraded')
  const poller = new Poller(fxd)
  await pause(fullMsMin)
  expect(await poller.stop()).toEqual([])
  expect(poller.statuses).toContain('degraded')
  expect(await fxd.doctor()).toMatch(/ALTER TABLE '[^']+' RESUME WAL/)

  expect(feeders.map(({ broken }) => broken)).toEqual([0, 0])
  // fxd itself resumes tables that the server suspended.
  disk.free()
  await flows(feeders, 5)
  await expect.poll(() => fxd.platformStatus(), pollOptions).toBe('ok')
  expect(await fxd.metric('fxd_questdb_suspended_tables')).toBe(0)
  expect(await fxd.metric('fxd_questdb_resumes_total')).toBeGreaterThan(0)
  await expectNothingLost(feeders, market, [fxd], `FXD_TEST_SEED=${seed}`)
})
