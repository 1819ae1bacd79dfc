import { expect, test } from 'vitest'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  fixture,
  opened,
  settledGaps,
  useResumableStream,
} from '../../../test/support/fixtures/resumable-stream-fixture.ts'
import { minutesOf, symbolNames, timeOf, zero } from '../../../test/support/fixtures/stream-fixture.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'

useResumableStream()

const symbols = symbolNames.map((name) => compoundKey(zero, name))
const minutes = Array.from({ length: 30 }, (_, i) => 1_960 + i)
/** The system accepts a few megabytes before anything is queued; each request is for a quarter of one. */
const requests = 40

test('a client that reads slowly gets the bars of memory as it reads, and is not closed', async () => {
  const others = await opened()
  await others.subscribe(symbols)
  for (const minute of minutes) await fixture.publish(symbols, minute)
  const slow = await opened()
  slow.raw.pause()
  const since = timeOf(minutes[0] ?? 0)
  for (let n = 0; n < requests; n++) {
    slow.send({ action: 'subscribe', symbols, since })
    slow.send({ action: 'unsubscribe', symbols })
    await fixture.clock.advance(200)
  }
  slow.send({ action: 'subscribe', symbols, since })
  await fixture.clock.advance(2_000)
  expect(await fixture.metric('fxd_stream_closes_total{code="4001"}')).toBe(0)
  slow.raw.resume()
  const last = minutes.at(-1)
  await until('the last bars', () => symbols.every((symbol) => minutesOf(slow, symbol).at(-1) === last))
  expect(await settledGaps(slow)).toEqual([])
})
