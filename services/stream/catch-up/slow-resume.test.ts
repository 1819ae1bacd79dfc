import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  fixture,
  opened,
  settledGaps,
  store,
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
  await until('the last bars', async () => {
    await fixture.clock.advance(100)
    return symbols.every((symbol) => minutesOf(slow, symbol).at(-1) === last)
  })
  expect(await settledGaps(slow)).toEqual([])
})

test('replays that wait for the reads of others cost no turns of the event loop', async () => {
  const gate = Promise.withResolvers<void>()
  store.gate = gate.promise
  // Four replays of a key read at once; the others are queued.
  for (let n = 0; n < 6; n++) {
    const socket = await opened()
    socket.send({ action: 'subscribe', symbols: [symbols[0]], since: timeOf(1_000) })
    await socket.next('subscribed')
  }
  const soon = vi.spyOn(fixture.clock, 'soon')
  await pause(200)
  expect(soon.mock.calls.length).toBeLessThan(20)
  soon.mockRestore()
  gate.resolve()
})
