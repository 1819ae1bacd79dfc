import { expect, onTestFinished, test } from 'vitest'
import { feedBody, zero } from '../../../test/support/fixtures/stream-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { seriesId } from '../../core/bars/series.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { TableOutOfOrder } from '../../core/failure.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import { silentLog } from '../../platform/log/log.ts'
import type { LastTimesAs } from '../../ports/bars.ts'
import { followRegistry } from '../../registry/follow.ts'
import { embeddedBus } from '../../stores/embedded/bus.ts'
import { Baseline } from './baseline.ts'

test('a process that starts while one table of a feed is lost has a baseline for the symbols of its other tables', async () => {
  const clock = createVirtualClock()
  const rows = {
    since: () => Promise.resolve([{ ...feedBody(zero), version: 1 }]),
    append: () => Promise.resolve({ outcome: 'conflict' } as const),
  }
  const registry = followRegistry(rows, embeddedBus(clock, silentLog), clock, silentLog)
  const symbol = compoundKey(zero, 'SYM1')
  const time = feedSeconds(1_767_000_000)
  const bars = {
    lastTimes: (_feed: string, { isPartial }: LastTimesAs = {}) =>
      isPartial
        ? Promise.resolve(new Map([[seriesId({ symbol, resolution: '1' }), time]]))
        : Promise.reject(new TableOutOfOrder('fxd_bars_brokera_zero_m1_0of4', 'is missing')),
  }
  const baseline = new Baseline({ bars, registry, clock, subscribed: () => [] })
  onTestFinished(() => {
    baseline.close()
    registry.close()
  })
  await registry.refresh()
  await clock.advance(1)
  expect(baseline.of(symbol)).toBe(time)
})
