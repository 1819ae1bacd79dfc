import { expect, test } from 'vitest'
import { CollectorFixture, day, minutes } from '../../../test/support/fixtures/collector-fixture.ts'
import { fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'

const suite = new CollectorFixture({ retention: { '1': '1d' } })
const patient = { timeout: 30_000 }

test.each(['pieces', 'whole'] as const)(
  'of a source that is read in %s no bar older than the retention is sent, and all others are stored',
  async (reads) => {
    const { noon } = suite
    const source = suite.terminal([fakeSymbol('EURUSD.z')], reads)
    const read = source.read.bind(source)
    const oldest = feedSeconds(noon - 2 * day)
    source.read = (series, span, signal) =>
      read(series, { ...span, from: feedSeconds(Math.max(oldest, span.from)) }, signal)
    suite.collect(source)
    await expect.poll(() => suite.windows(), patient).toEqual([['EURUSD', noon - day, noon]])
    expect(await suite.times()).toEqual(minutes(noon - day, noon))
    const { text } = await suite.fixture.metrics.render()
    expect(/refused_bars_total\{reason="past_retention"\} (.*)/.exec(text)?.[1]).toBe('0')
  },
)
