import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { health } from './health.ts'

const works = { ping: () => Promise.resolve() }
const fails = { ping: () => Promise.reject(new Unavailable('store', new Error('connect ECONNREFUSED'))) }
const isSilent = { ping: () => new Promise<void>(() => undefined) }

test('a store and a bus that work have no fault', async () => {
  const clock = createVirtualClock()
  expect(await health({ bars: works, board: works, clock })).toEqual({ storeFault: '', busFault: '' })
})

test('a store that fails and a bus that is silent have the reason as their fault, after 3 s', async () => {
  const clock = createVirtualClock()
  const asked = health({ bars: fails, board: isSilent, clock })
  await clock.advance(3_000)
  expect(await asked).toEqual({
    storeFault: 'The store is unavailable: connect ECONNREFUSED.',
    busFault: 'The bus is unavailable: a check took longer than 3000 ms.',
  })
})
