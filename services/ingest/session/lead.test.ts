import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { silentLog } from '../../platform/log/log.ts'
import type { Granted } from '../../ports/lease.ts'
import { lead } from './lead.ts'

/** Leases that answer as they are told to, and what became of one session's wait for them. */
function begin(answer: () => Promise<Granted | undefined>) {
  const clock = createVirtualClock()
  const told: string[] = []
  const ending = new AbortController()
  const leases = { answer, renew: async (): Promise<boolean> => true }
  const leading = lead({
    leases: {
      acquire: () => leases.answer(),
      renew: () => leases.renew(),
      release: async () => undefined,
    },
    name: 'feed',
    holder: 'a',
    clock,
    log: silentLog,
    signal: ending.signal,
    onWait: () => told.push('waits'),
    onTaken: () => told.push('taken'),
    onSilence: () => told.push('silence'),
    onLost: () => told.push('lost'),
  })
  return { clock, told, ending, leases, leading }
}

const away = (): Promise<never> => Promise.reject(new Error('away'))
const taken = async (): Promise<undefined> => undefined

test('five seconds without a word about the lease end the wait for it, and nothing is granted', async () => {
  const { clock, told, leading } = begin(away)
  await clock.advance(4_999)
  expect(told).toEqual(['waits'])
  await clock.advance(1)
  expect(told).toEqual(['waits', 'silence'])
  expect(await leading.granted).toBeUndefined()
  await clock.advance(120_000)
  expect(told).toEqual(['waits', 'silence'])
})

test('whoever stands by is told of a silence that began later', async () => {
  const { clock, told, leases } = begin(taken)
  await clock.advance(60_000)
  expect(told).toEqual(['taken', 'waits'])
  leases.answer = away
  await clock.advance(4_000)
  expect(told).toEqual(['taken', 'waits'])
  await clock.advance(1_000)
  expect(told).toEqual(['taken', 'waits', 'silence'])
})

test('another one leads is told when it is known, and shorter silences are waited through', async () => {
  const { clock, told, leases, leading, ending } = begin(away)
  await clock.advance(3_000)
  expect(told).toEqual(['waits'])
  leases.answer = taken
  await clock.advance(5_000)
  leases.answer = away
  await clock.advance(3_000)
  expect(told).toEqual(['waits', 'taken'])
  leases.answer = async () => ({ epoch: 7 })
  await clock.advance(1_000)
  expect(await leading.granted).toBe(7)
  ending.abort()
  await leading.release()
  expect(told).toEqual(['waits', 'taken'])
})

test('whoever leads goes on leading however long the leases are silent', async () => {
  const { clock, told, leases, leading } = begin(async () => ({ epoch: 7 }))
  expect(await leading.granted).toBe(7)
  leases.answer = leases.renew = away
  await clock.advance(600_000)
  expect(told).toEqual([])
})
