import { expect, onTestFinished, test } from 'vitest'
import { live, openRegistryFixture, zero } from '../../../test/support/fixtures/registry-fixture.ts'
import { symbolBody } from '../../../test/support/fixtures/stream-fixture.ts'
import { TableOutOfOrder } from '../../core/failure.ts'
import { silentLog } from '../../platform/log/log.ts'
import { freeHiddenNames } from './hidden-names.ts'

test('a feed that cannot be read does not end the check of later feeds', async () => {
  const fixture = await openRegistryFixture()
  const { clock, registry, writer, stores } = fixture
  const bars: Pick<typeof stores.bars, 'lastTimes'> = {
    lastTimes: (feed, as) =>
      feed === zero.key
        ? Promise.reject(new TableOutOfOrder('fxd_bars_brokera_zero_h1', 'is missing'))
        : stores.bars.lastTimes(feed, as),
  }
  const stop = freeHiddenNames({ bars, registry, writer, clock, log: silentLog })
  onTestFinished(async () => {
    stop()
    await fixture.remove()
  })
  const rows = [zero, live].map(({ key }) => symbolBody(key, 'OLD', true))
  await writer.change(() => ({ rows, result: undefined }))
  const hiddenSince = (feed: typeof zero) => {
    const old = registry
      .view()
      .allSymbolsOf(feed.key)
      .find(({ name }) => name === 'OLD')
    return old?.hiddenSince
  }
  await expect
    .poll(async () => {
      await clock.advance(600_000)
      return hiddenSince(live)
    })
    .toEqual(expect.any(Number))
  expect(hiddenSince(zero)).toBeUndefined()
})
