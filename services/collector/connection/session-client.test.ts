import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import type { IngestMessage__Output } from '../../wire/gen/fxd/v1/IngestMessage.ts'
import type { CallListener, Dial } from './dial.ts'
import { greetingTimeoutMs, SessionClient } from './session-client.ts'

/** A session with an ingest whose messages the test sends. */
function begin() {
  const clock = createVirtualClock()
  let ingest: CallListener | undefined
  const dial: Dial = (_, listener) => {
    ingest = listener
    const over = (): void => listener.over({ code: status.CANCELLED, details: 'cancelled' })
    return { send: () => undefined, end: () => undefined, cancel: over }
  }
  const client = new SessionClient({ address: 'ingest:1', identity: {}, hello: {}, clock, dial })
  const receive = (message: IngestMessage__Output): void => ingest?.received(message)
  return { clock, client, receive }
}

test('an ingest that does not answer Hello is abandoned after a minute, with a reason', async () => {
  const { clock, client } = begin()
  await clock.advance(greetingTimeoutMs - 1)
  expect(client.signal.aborted).toBe(false)
  await clock.advance(1)
  expect(client.signal.aborted).toBe(true)
  expect(await client.ended).toMatchObject({
    code: 'DEADLINE_EXCEEDED',
    message: 'ingest has not answered Hello within 60 s',
  })
  await expect(client.greeting).rejects.toThrow('within 60 s')
})

test('a client on standby waits without a timeout', async () => {
  const { clock, client, receive } = begin()
  const welcome = { epoch: 0, utcMs: clock.utcMs(), resolutions: [], midQuoted: false, backfillVersion: 0 }
  receive({ welcome: { ...welcome, active: false } })
  await clock.advance(20 * greetingTimeoutMs)
  expect(client.signal.aborted).toBe(false)
  receive({ welcome: { ...welcome, active: true, epoch: 7 } })
  receive({ known: { series: [], last: true } })
  expect(await client.greeting).toMatchObject({ welcome: { epoch: 7 } })
})

test('a session that ended leaves no timer', async () => {
  const { clock, client } = begin()
  client.cancel()
  await client.ended
  expect(clock.pending).toBe(0)
})
