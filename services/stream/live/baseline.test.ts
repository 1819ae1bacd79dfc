import { expect, onTestFinished, test } from 'vitest'
import { zero } from '../../../test/support/fixtures/stream-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { seriesId } from '../../core/bars/series.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { TableOutOfOrder } from '../../core/failure.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { LastTimesAs } from '../../ports/bars.ts'
import { Subscriptions } from '../fan-out/subscriptions.ts'
import { Baseline } from './baseline.ts'

test('a process that starts while one table of a feed is lost has a baseline for the symbols of its other tables', async () => {
  const clock = createVirtualClock()
  const symbol = compoundKey(zero, 'SYM1')
  const time = feedSeconds(1_767_000_000)
  const bars = {
    lastTimes: (_feed: string, { isPartial }: LastTimesAs = {}) =>
      isPartial
        ? Promise.resolve(new Map([[seriesId({ symbol, resolution: '1' }), time]]))
        : Promise.reject(new TableOutOfOrder('fxd_bars_brokera_zero_m1_0of4', 'is missing')),
  }
  const baseline = new Baseline({ bars, clock, symbols: new Subscriptions().symbols }, zero)
  onTestFinished(() => baseline.close())
  await baseline.read()
  expect(baseline.of(symbol)).toBe(time)
})
