import { expect, onTestFinished, test } from 'vitest'
import { mountable, mountSmallDisk } from '../../support/fixtures/small-disk.ts'
import { Feeder } from '../support/feeder.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { Market, manifest } from '../support/market.ts'
import { expectNothingLost, flows } from '../support/quiet.ts'
import { seeded } from '../support/seeded.ts'

const leftBytes = 256 * 1_024
const pollOptions = { timeout: 120_000, interval: 200 }

const countMessages = (fxd: FxdProcess, words: string): number => fxd.log.split(`"msg":"${words}`).length - 1

test.each(mountable(60 * 2 ** 20))(
  'a full disk of the embedded store degrades the status, is logged once and ends no session; once space is free fxd recovers and has every acknowledged bar',
  {
    timeout: 400_000,
  },
  async ({ bytes }) => {
    const { random, seed } = seeded()
    const disk = mountSmallDisk(bytes)
    onTestFinished(() => disk.remove())
    const market = new Market(random)
    const fxd = await FxdProcess.start({ data: disk.folder, manifests: [manifest] })
    await fxd.takeKey()
    const live = new Feeder({ ingest: fxd, mode: 'LIVE', next: () => market.live() }).start()
    const history = new Feeder({ ingest: fxd, mode: 'IMPORT', next: () => market.history(2_000) }).start()
    const feeders = [live, history]
    await flows(feeders, 3)
    await expect.poll(() => fxd.platformStatus(), pollOptions).toBe('ok')

    disk.fill(leftBytes)
    await expect.poll(() => fxd.platformStatus(), pollOptions).toBe('degraded')
    await expect
      .poll(() => fxd.metric('fxd_store_bar_writes_failing_seconds'), pollOptions)
      .toBeGreaterThan(10)
    await expect
      .poll(() => countMessages(fxd, 'store unavailable; no bars can be stored'), pollOptions)
      .toBe(1)

    expect(feeders.map(({ broken }) => broken)).toEqual([0, 0])

    disk.free()
    await flows(feeders, 3)
    await expect.poll(() => fxd.platformStatus(), pollOptions).toBe('ok')
    expect(await fxd.metric('fxd_store_bar_writes_failing_seconds')).toBeLessThan(10)
    expect([
      countMessages(fxd, 'store unavailable; no bars can be stored'),
      countMessages(fxd, 'bars are stored again'),
    ]).toEqual([1, 1])
    await expectNothingLost(feeders, market, [fxd], `FXD_TEST_SEED=${seed}`)
  },
)
