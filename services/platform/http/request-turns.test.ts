import { describe, expect, onTestFinished, test } from 'vitest'
import { dial, startHttpServer } from '../../../test/support/fixtures/http-server.ts'
import { turnsBetween } from '../after-turns.ts'
import { systemClock } from '../system-clock.ts'
import { RequestTurns, turnMsMax } from './request-turns.ts'

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Resolves after the next turn in which requests start. */
async function nextStarts(): Promise<void> {
  for (let n = 0; n <= turnsBetween; n++) await turn()
}

/** Two requests start per turn. */
function begin() {
  let now = 0
  const turns = new RequestTurns({ ...systemClock, monotonicMs: () => now })
  const started: number[] = []
  const arrive = (n: number, caller = ''): void =>
    turns.start(
      () => {
        started.push(n)
        now += turnMsMax / 2
      },
      () => caller,
    )
  return { started, arrive }
}

test('after starts took the maximum time of a turn, later requests start in later turns, in order', async () => {
  const { started, arrive } = begin()
  for (let n = 1; n <= 5; n++) arrive(n)
  expect(started).toEqual([1, 2])
  await nextStarts()
  expect(started).toEqual([1, 2, 3, 4])
  arrive(6)
  expect(started).toEqual([1, 2, 3, 4])
  await nextStarts()
  expect(started).toEqual([1, 2, 3, 4, 5, 6])
  await nextStarts()
  arrive(7)
  expect(started).toHaveLength(7)
})

test('what a start does in promises counts as time of the turn', async () => {
  let now = 0
  const turns = new RequestTurns({ ...systemClock, monotonicMs: () => now })
  const started: number[] = []
  for (let n = 1; n <= 5; n++) {
    turns.start(
      () => {
        started.push(n)
        if (n === 1) now += turnMsMax
        void Promise.resolve().then(() => (now += turnMsMax))
      },
      () => '',
    )
  }
  await nextStarts()
  expect(started).toEqual([1, 2])
})

test('a request starts before the second one of another caller, however many of that caller wait', async () => {
  const { started, arrive } = begin()
  for (let n = 1; n <= 100; n++) arrive(n, 'many')
  arrive(101, 'one')
  arrive(102, 'one')
  await nextStarts()
  expect(started).toEqual([1, 2, 3, 101])
  await nextStarts()
  expect(started).toEqual([1, 2, 3, 101, 4, 102])
})

describe('eight requests of one packet, each of which takes the maximum time of a turn', () => {
  const eight = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(8)
  const work = (): void => {
    const end = performance.now() + turnMsMax
    while (performance.now() < end);
  }

  test('start in eight turns, and all are answered', async () => {
    let turns = 0
    let next = setImmediate(function count() {
      turns += 1
      next = setImmediate(count)
    })
    onTestFinished(() => clearImmediate(next))
    const startedIn: number[] = []
    const { port } = await startHttpServer({
      handle(_request, response) {
        startedIn.push(turns)
        work()
        response.end('hello')
      },
    })
    const socket = await dial(port)
    socket.write(eight)
    let text = ''
    socket.on('data', (part) => (text += String(part)))
    const answers = () => text.split('hello').length - 1
    await expect
      .poll(() => ({ answers: answers(), started: startedIn.length, isCut: socket.readableEnded }))
      .toEqual({ answers: 8, started: 8, isCut: false })
    expect(new Set(startedIn).size).toBe(8)
    socket.destroy()
  })

  test('are not handled after their connection is destroyed', async () => {
    let handled = 0
    const server = await startHttpServer({
      handle({ socket }) {
        handled += 1
        work()
        setImmediate(() => socket.destroy())
      },
    })
    const socket = await dial(server.port)
    socket.write(eight)
    await expect.poll(() => handled).toBeGreaterThan(0)
    await expect.poll(() => server.connections()).toBe(0)
    for (let n = 0; n < 10; n++) await turn()
    expect(handled).toBeLessThan(8)
  })
})
