import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { UnreadAnswers } from './unread-answers.ts'

const start = (bytesMax: number) => {
  const closed: Socket[] = []
  const unread = new UnreadAnswers(bytesMax, (socket) => void closed.push(socket))
  const [a, b, c] = [new Socket(), new Socket(), new Socket()] as const
  return { unread, closed, a, b, c }
}

test('beyond the bound the connection that has waited longest is closed, and no more than needed', () => {
  const { unread, closed, a, b, c } = start(100)
  unread.written(a, 40)
  unread.written(b, 40)
  unread.written(a, 60)
  expect(closed).toEqual([])
  unread.written(c, 30)
  expect(closed).toEqual([a])
  expect(unread.bytes).toBe(70)
})

test('a client that has taken an answer waits for less time than the others', () => {
  const { unread, closed, a, b, c } = start(100)
  unread.written(a, 50)
  unread.written(b, 40)
  unread.taken(a, 30)
  unread.written(c, 40)
  expect(closed).toEqual([b])
  expect(unread.bytes).toBe(70)
})

test('an answer that is beyond the bound alone closes its own connection after all others', () => {
  const { unread, closed, a, b } = start(100)
  unread.written(a, 10)
  unread.written(b, 101)
  expect(closed).toEqual([a, b])
  expect(unread.bytes).toBe(0)
})

test('what was taken, or whose client is gone, is counted no more', () => {
  const { unread, a } = start(100)
  unread.written(a, 10)
  unread.taken(a, 0)
  unread.taken(a, 0)
  expect(unread.bytes).toBe(0)
})

test('a connection of the address that holds most is closed, not the slowest of another address', () => {
  const { unread, closed, a, b, c } = start(100)
  Object.defineProperty(a, 'remoteAddress', { value: '192.0.2.1' })
  for (const socket of [b, c]) Object.defineProperty(socket, 'remoteAddress', { value: '192.0.2.2' })
  unread.written(a, 40)
  unread.written(b, 30)
  unread.written(c, 31)
  expect(closed).toEqual([b])
  expect(unread.bytes).toBe(71)
})
