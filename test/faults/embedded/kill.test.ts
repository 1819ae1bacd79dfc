import { expect, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { Feeder } from '../support/feeder.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { Market, manifest } from '../support/market.ts'
import { complaintsAtRest, flows } from '../support/quiet.ts'
import { seeded } from '../support/seeded.ts'

/** Kills of the process; forty in `make soak`. */
const kills = Math.max(2, 2 * effort)

test('fxd on the embedded store is killed repeatedly: every acknowledged bar is in history and every acknowledged window in coverage', {
  timeout: 120_000 + kills * 60_000,
}, async () => {
  const { random, seed } = seeded()
  const market = new Market(random)
  const fxd = await FxdProcess.start({ manifests: [manifest] })
  await fxd.takeKey()
  const live = new Feeder({ ingest: fxd, mode: 'LIVE', next: () => market.live(), claims: true }).start()
  const history = new Feeder({ ingest: fxd, mode: 'IMPORT', next: () => market.history() }).start()
  const feeders = [live, history]
  for (let kill = 0; kill < kills; kill++) {
    await flows(feeders, 5)
    await fxd.kill()
    await fxd.start()
  }
  await flows(feeders, 5)
  expect(live.ackedMinutes.size).toBeGreaterThan(0)
  expect(await complaintsAtRest(feeders, market, [fxd]), `FXD_TEST_SEED=${seed}`).toEqual([])
})
