import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { UnreadAnswers } from './unread-answers.ts'

const start = (bytesMax: number) => {
  const closed: Socket[] = []
  const unread = new UnreadAnswers(bytesMax, (socket) => void closed.push(socket))
  const [a, b, c] = [new Socket(), new Socket(), new Socket()] as const
  return { unread, closed, a, b, c }
}

test('above the limit the connection that has waited longest is closed, and no more than needed', () => {
  const { unread, closed, a, b, c } = start(100)
  unread.written(a, 40)
  unread.written(b, 40)
  unread.written(a, 60)
  expect(closed).toEqual([])
  unread.written(c, 30)
  expect(closed).toEqual([a])
  expect(unread.bytes).toBe(70)
})

test('reading an answer restarts the wait of its connection', () => {
  const { unread, closed, a, b, c } = start(100)
  unread.written(a, 50)
  unread.written(b, 40)
  unread.read(a, 30)
  unread.written(c, 40)
  expect(closed).toEqual([b])
  expect(unread.bytes).toBe(70)
})

test('an answer larger than the limit closes all other connections, then its own', () => {
  const { unread, closed, a, b } = start(100)
  unread.written(a, 10)
  unread.written(b, 101)
  expect(closed).toEqual([a, b])
  expect(unread.bytes).toBe(0)
})

test('answers that were read, or whose client has gone, no longer count', () => {
  const { unread, a } = start(100)
  unread.written(a, 10)
  unread.read(a, 0)
  unread.read(a, 0)
  expect(unread.bytes).toBe(0)
})

test('the closed connection is of the address with the most unread bytes, even if another address is slower', () => {
  const { unread, closed, a, b, c } = start(100)
  Object.defineProperty(a, 'remoteAddress', { value: '192.0.2.1' })
  for (const socket of [b, c]) Object.defineProperty(socket, 'remoteAddress', { value: '192.0.2.2' })
  unread.written(a, 40)
  unread.written(b, 30)
  unread.written(c, 31)
  expect(closed).toEqual([b])
  expect(unread.bytes).toBe(71)
})
