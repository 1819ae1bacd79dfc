import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { feedKey } from '../../core/feeds/compound-key.ts'
import { silentLog } from '../../platform/log/log.ts'
import type { Granted } from '../../ports/lease.ts'
import { lead } from './lead.ts'

/** Requests a lease from a store that answers with `answer`, and records the callbacks. */
function begin(answer: () => Promise<Granted | undefined>) {
  const clock = createVirtualClock()
  const calls: string[] = []
  const ending = new AbortController()
  const leases = { answer, renew: async (): Promise<boolean> => true }
  const leadership = lead({
    leases: {
      acquire: () => leases.answer(),
      renew: () => leases.renew(),
      release: async () => undefined,
    },
    feed: feedKey('BROKERA', 'ZERO'),
    holder: 'a',
    clock,
    log: silentLog,
    signal: ending.signal,
    onWait: () => calls.push('waits'),
    onTaken: () => calls.push('taken'),
    onSilence: () => calls.push('silence'),
    onLost: () => calls.push('lost'),
  })
  return { clock, calls, ending, leases, leadership }
}

const unavailable = (): Promise<never> => Promise.reject(new Error('unavailable'))
const taken = async (): Promise<undefined> => undefined

test('five seconds without an answer about the lease end the wait, and nothing is granted', async () => {
  const { clock, calls, leadership } = begin(unavailable)
  await clock.advance(4_999)
  expect(calls).toEqual(['waits'])
  await clock.advance(1)
  expect(calls).toEqual(['waits', 'silence'])
  expect(await leadership.granted).toBeUndefined()
  await clock.advance(120_000)
  expect(calls).toEqual(['waits', 'silence'])
})

test('a standby is notified of a silence that begins later', async () => {
  const { clock, calls, leases } = begin(taken)
  await clock.advance(60_000)
  expect(calls).toEqual(['taken', 'waits'])
  leases.answer = unavailable
  await clock.advance(4_000)
  expect(calls).toEqual(['taken', 'waits'])
  await clock.advance(1_000)
  expect(calls).toEqual(['taken', 'waits', 'silence'])
})

test('another leader is reported once it is known, and a shorter silence does not end the wait', async () => {
  const { clock, calls, leases, leadership, ending } = begin(unavailable)
  await clock.advance(3_000)
  expect(calls).toEqual(['waits'])
  leases.answer = taken
  await clock.advance(5_000)
  leases.answer = unavailable
  await clock.advance(3_000)
  expect(calls).toEqual(['waits', 'taken'])
  leases.answer = async () => ({ epoch: 7 })
  await clock.advance(1_000)
  expect(await leadership.granted).toBe(7)
  ending.abort()
  await leadership.release()
  expect(calls).toEqual(['waits', 'taken'])
})

test('a leader keeps leading however long the lease store is silent', async () => {
  const { clock, calls, leases, leadership } = begin(async () => ({ epoch: 7 }))
  expect(await leadership.granted).toBe(7)
  leases.answer = leases.renew = unavailable
  await clock.advance(600_000)
  expect(calls).toEqual([])
})
