import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/virtual-clock.ts'
import { Unavailable, WrongServer } from '../../../core/failure.ts'
import { createLog } from '../../../platform/log/log.ts'
import { ServerGate } from './gate.ts'

function house() {
  const clock = createVirtualClock()
  const logged: string[] = []
  const log = createLog('info', { write: (line) => void logged.push(line) })
  const state: { looks: number; answer: () => Promise<void> } = { looks: 0, answer: async () => undefined }
  const gate = new ServerGate({ clock, log }, () => {
    state.looks++
    return state.answer()
  })
  return { clock, logged, state, gate }
}

test('before its tables are made nobody is let through, and the server is not asked', async () => {
  const { gate, state } = house()
  await expect(gate.pass()).rejects.toBeInstanceOf(Unavailable)
  expect(state.looks).toBe(0)
})

test('a server is looked at once for all who wait, and again only after a connection was lost', async () => {
  const { gate, state } = house()
  gate.open()
  await Promise.all([gate.pass(), gate.pass(), gate.pass()])
  await gate.pass()
  expect(state.looks).toBe(1)
  gate.lost()
  await gate.pass()
  expect(state.looks).toBe(2)
})

test('a connection lost while the server is looked at is a reason to look again', async () => {
  const { gate, state } = house()
  gate.open()
  const passing = gate.pass()
  gate.lost()
  await passing
  await gate.pass()
  expect(state.looks).toBe(2)
})

test('a wrong server lets nobody through, is told once and asked once a second, until it is right again', async () => {
  const { clock, gate, logged, state } = house()
  gate.open()
  state.answer = () => Promise.reject(new WrongServer('too old'))
  for (let i = 0; i < 3; i++)
    await expect(gate.pass()).rejects.toMatchObject({ cause: { message: 'too old' } })
  expect(state.looks).toBe(1)
  await clock.advance(1_000)
  await expect(gate.pass()).rejects.toBeInstanceOf(Unavailable)
  expect([state.looks, logged.length]).toEqual([2, 1])
  state.answer = async () => undefined
  await clock.advance(1_000)
  await gate.pass()
  await gate.pass()
  expect(state.looks).toBe(3)
})
