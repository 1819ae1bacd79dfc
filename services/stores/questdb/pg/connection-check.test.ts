import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { Unavailable, WrongServer } from '../../../core/failure.ts'
import { createLog } from '../../../platform/log/log.ts'
import { ServerConnectionCheck } from './connection-check.ts'

function fixture() {
  const clock = createVirtualClock()
  const logged: string[] = []
  const log = createLog('info', { write: (line) => void logged.push(line) })
  const state: { looks: number; answer: () => Promise<void> } = { looks: 0, answer: async () => undefined }
  const check = new ServerConnectionCheck({ clock, log }, () => {
    state.looks++
    return state.answer()
  })
  return { clock, logged, state, check }
}

test('before the tables exist every check fails without a query to the server', async () => {
  const { check, state } = fixture()
  await expect(check.pass()).rejects.toBeInstanceOf(Unavailable)
  expect(state.looks).toBe(0)
})

test('concurrent checks share one query, and only a lost connection causes another', async () => {
  const { check, state } = fixture()
  check.open()
  await Promise.all([check.pass(), check.pass(), check.pass()])
  await check.pass()
  expect(state.looks).toBe(1)
  check.lost()
  await check.pass()
  expect(state.looks).toBe(2)
})

test('a connection lost during a check causes another check', async () => {
  const { check, state } = fixture()
  check.open()
  const passing = check.pass()
  check.lost()
  await passing
  await check.pass()
  expect(state.looks).toBe(2)
})

test('a wrong server fails every check, is logged once and queried once a second until it is right again', async () => {
  const { clock, check, logged, state } = fixture()
  check.open()
  state.answer = () => Promise.reject(new WrongServer('too old'))
  for (let i = 0; i < 3; i++)
    await expect(check.pass()).rejects.toMatchObject({ cause: { message: 'too old' } })
  expect(state.looks).toBe(1)
  await clock.advance(1_000)
  await expect(check.pass()).rejects.toBeInstanceOf(Unavailable)
  expect([state.looks, logged.length]).toEqual([2, 1])
  state.answer = async () => undefined
  await clock.advance(1_000)
  await check.pass()
  await check.pass()
  expect(state.looks).toBe(3)
})
