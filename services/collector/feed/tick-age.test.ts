import { expect, test } from 'vitest'
import { CollectorFixture } from '../../../test/support/fixtures/collector-fixture.ts'
import { FakeTerminal, fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { createCollectorMetrics } from '../metrics.ts'

const suite = new CollectorFixture()
const quietSeconds = 1_800

/** The age of the last tick of a source that reports none for half an hour; `undefined`: there is no series. */
async function ageWithoutTicks(live: boolean): Promise<number | undefined> {
  const capabilities = { rereadable: true, reads: 'whole', live } as const
  const source = new FakeTerminal([fakeSymbol('EURUSD.z')], () => suite.noon, capabilities)
  source.open = async (listener) => listener.catalogue(source.symbols, { snapshot: true })
  const metrics = createMetrics({ ofProcess: false })
  suite.collect(source, { metrics: createCollectorMetrics(metrics).of(suite.feed.key) })
  await suite.clock.advance(quietSeconds * 1_000)
  const line = /^fxd_collector_tick_age_seconds\{.*\} (.*)$/m.exec((await metrics.render()).text)
  return line === null ? undefined : Number(line[1])
}

test('the age of the last tick counts from the opening of a source that has reported none', async () => {
  expect(await ageWithoutTicks(true)).toBe(quietSeconds)
})

test('a source that reports no ticks has no age of the last tick', async () => {
  expect(await ageWithoutTicks(false)).toBeUndefined()
})
