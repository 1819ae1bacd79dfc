import { describe, expect, test } from 'vitest'
import { CollectorFixture, day, hour, minutes } from '../../../test/support/fixtures/collector-fixture.ts'
import { testToken } from '../../../test/support/fixtures/ingest-fixture.ts'
import { fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { registryClient } from '../../wire/unary-client.ts'

const suite = new CollectorFixture()
/** Timeout for a busy machine. */
const patient = { timeout: 8_000 }

async function backfill(from: number, to: number): Promise<void> {
  const client = registryClient(suite.fixture.address, { token: testToken })
  const request = { feed: suite.feed.key, symbol: 'EURUSD', from, to }
  await client.call('Backfill', request).finally(() => client.close())
}

/** Times of the stored bars whose close is that of the source now. */
async function corrected(closeOf: (time: number) => number): Promise<number[]> {
  const stored = await suite.stored()
  return stored.filter(({ time, close }) => close === closeOf(time)).map(({ time }) => time)
}

describe('after a withdrawal of a range the collector', () => {
  test('of a source that is read in pieces reads that range again, and no other', async () => {
    const { noon } = suite
    const source = suite.terminal([fakeSymbol('EURUSD.z'), fakeSymbol('GBPUSD')])
    suite.collect(source)
    await suite.settled()
    source.shift = 7
    source.reads.length = 0
    const [from, to] = [noon - 1.5 * day, noon - 1.5 * day + hour]
    await backfill(from, to)
    await suite.clock.advance(2_000)
    const closeOf = (time: number): number => source.bars('1', time, time + 1).close[0] ?? 0
    await expect.poll(() => corrected(closeOf), patient).toEqual(minutes(from, to))
    await expect.poll(() => suite.covered('EURUSD'), patient).toEqual([[noon - 2 * day, noon]])
    expect(await suite.covered('GBPUSD')).toEqual([[noon - 2 * day, noon]])
    const history = source.reads.filter(({ span }) => span.from < noon - 6 * hour)
    expect(history.map(({ raw, span }) => [raw, span.from, span.to])).toEqual([['EURUSD.z', from, to]])
  })

  test('of a source that is read as a whole sends the bars of that range again, and no others', async () => {
    const { noon } = suite
    const source = suite.terminal([fakeSymbol('EURUSD.z')], 'whole')
    const [start, end] = [feedSeconds(noon - 10 * day), feedSeconds(noon - 10 * day + 2 * hour)]
    source.read = async function* () {
      yield { bars: this.bars('1', start, end), complete: { from: start, to: end } }
    }
    suite.collect(source)
    await expect.poll(() => suite.covered('EURUSD'), patient).toEqual([[start, end]])
    source.shift = 7
    await backfill(start, start + hour)
    await suite.clock.advance(2_000)
    const closeOf = (time: number): number => source.bars('1', time, time + 1).close[0] ?? 0
    await expect.poll(() => corrected(closeOf), patient).toEqual(minutes(start, start + hour))
    await expect.poll(() => suite.covered('EURUSD'), patient).toEqual([[start, end]])
  })
})
