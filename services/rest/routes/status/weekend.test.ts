import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
} from '../../../../test/support/fixtures/rest-fixture.ts'
import { lastMinute, sundayMorning, weekendBars } from '../../../../test/support/samples/weekend-bars.ts'
import { toList } from '../../../core/bars/bar.ts'

let edge: RestFixture
beforeAll(async () => {
  edge = await openRestFixture({ start: sundayMorning * 1000 })
  await edge.register(
    aFeed('BROKERA', 'ZERO'),
    aKey(1, ['BROKERA:ZERO']),
    aSymbol('BROKERA:ZERO:BTCUSD', { digits: 2 }),
  )
  for (const [resolution, bars] of weekendBars)
    await edge.store('BROKERA:ZERO:BTCUSD', resolution, toList(bars))
})
afterAll(() => edge.close())

test('on a weekend last_candle_time is the open time of the last minute, and the age counts from its end', async () => {
  const { body } = await edge.ask('/v1/status', { key: 1 })
  expect(body.feeds['BROKERA:ZERO']).toMatchObject({
    last_candle_time: lastMinute,
    last_candle_age_seconds: sundayMorning - (lastMinute + 60),
    liveness_source: 'candle',
  })
})
