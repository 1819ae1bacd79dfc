import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../support/fixtures/temporary-folder.ts'
import { backUp, unpack } from '../../support/questdb/backup.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { startQuestdb } from '../../support/questdb/server.ts'
import { checkHistory } from '../checks/check-history.ts'
import { Feeder } from '../support/feeder.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { Market, manifest } from '../support/market.ts'
import { expectNothingLost, flows } from '../support/quiet.ts'
import { readHistory } from '../support/read-history.ts'
import { seeded } from '../support/seeded.ts'

const server = oneServer()
const prefix = 'backup_'

test('a backup taken during writes has every bar acknowledged before it, and a service on the restored copy works', {
  timeout: 600_000,
}, async () => {
  const { random, seed } = seeded()
  const hint = `FXD_TEST_SEED=${seed}`
  const market = new Market(random)
  const fxd = await FxdProcess.start({ ...server(), prefix, manifests: [manifest] })
  await fxd.takeKey()
  const live = new Feeder({ ingest: fxd, mode: 'LIVE', next: () => market.live() }).start()
  const history = new Feeder({ ingest: fxd, mode: 'IMPORT', next: () => market.history() }).start()
  const feeders = [live, history]
  await flows(feeders, 10)

  const archive = join(temporaryFolder(), 'backup.tar')
  const ackedBefore = new Set(feeders.flatMap(({ readings }) => readings.filter(({ acked }) => acked)))
  await backUp(server(), archive, () => flows(feeders, 3))
  await flows(feeders, 5)
  await expectNothingLost(feeders, market, [fxd], hint)

  const folder = temporaryFolder()
  await unpack(archive, folder)
  const restored = await startQuestdb({ folder })
  onTestFinished(() => restored.stop())
  expect(existsSync(join(folder, '_restore'))).toBe(false)
  const service = await FxdProcess.start({ ...restored, prefix, manifests: [manifest] })
  // The key was issued on the first service: the backup contains keys too.
  await service.takeKey(fxd)
  const readings = feeders.flatMap((feeder) => feeder.readings)
  const asOfThen = readings.map((reading) => ({ ...reading, acked: ackedBefore.has(reading) }))
  expect(checkHistory(asOfThen, await readHistory(service, market, '1')), hint).toEqual([])
  await expect.poll(() => service.platformStatus(), { timeout: 30_000 }).toBe('ok')
  expect(await service.doctor()).not.toContain('WRONG')

  // Collectors send the bars after the backup again.
  const again = new Feeder({ ingest: service, mode: 'LIVE', next: () => market.live() }).start()
  await flows([again], 5)
  await again.stop()
  console.log(
    `${hint}: ${ackedBefore.size} of ${readings.length} readings were acknowledged before the checkpoint; all of them were there`,
  )
})
