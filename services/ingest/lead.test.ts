import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/virtual-clock.ts'
import { silentLog } from '../platform/log.ts'
import type { Granted } from '../ports/lease.ts'
import { lead } from './lead.ts'

test('another one leads is told when it is known, not while leases are away', async () => {
  const clock = createVirtualClock()
  const told: string[] = []
  const ending = new AbortController()
  let answer: () => Promise<Granted | undefined> = () => Promise.reject(new Error('away'))
  const leading = lead({
    leases: { acquire: () => answer(), renew: async () => true, release: async () => undefined },
    name: 'feed',
    holder: 'a',
    clock,
    log: silentLog,
    signal: ending.signal,
    onWait: () => told.push('waits'),
    onTaken: () => told.push('taken'),
    onLost: () => told.push('lost'),
  })
  await clock.advance(120_000)
  expect(told).toEqual(['waits'])
  answer = async () => undefined
  await clock.advance(5_000)
  expect(told).toEqual(['waits', 'taken'])
  answer = async () => ({ epoch: 7 })
  await clock.advance(1_000)
  expect(await leading.granted).toBe(7)
  ending.abort()
  await leading.release()
  expect(told).toEqual(['waits', 'taken'])
})
