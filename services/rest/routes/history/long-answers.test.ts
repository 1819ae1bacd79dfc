import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestEdge,
  type RestEdge,
  secretOf,
} from '../../../../test/support/rest-edge.ts'
import { createVirtualClock } from '../../../../test/support/virtual-clock.ts'
import { Unavailable } from '../../../core/failure.ts'
import { createLongAnswers, waitMs } from './long-answers.ts'

describe('places for long answers', () => {
  test('are taken first come first served, and a place given back twice is given back once', async () => {
    const places = createLongAnswers(createVirtualClock(), 1)
    const order: string[] = []
    const leave = await places.enter()
    const second = places.enter().then((give) => (order.push('second'), give))
    const third = places.enter().then((give) => (order.push('third'), give))
    expect([places.held, places.waiting]).toEqual([1, 2])
    leave()
    leave()
    const leaveSecond = await second
    expect([order, places.held, places.waiting]).toEqual([['second'], 1, 1])
    leaveSecond()
    ;(await third)()
    expect([order, places.held, places.waiting]).toEqual([['second', 'third'], 0, 0])
  })

  test('are waited for no longer than the bound, and the next takes the turn', async () => {
    const clock = createVirtualClock()
    const places = createLongAnswers(clock, 1)
    const leave = await places.enter()
    const late = places.enter().catch((error: unknown) => error)
    await clock.advance(waitMs - 1)
    const next = places.enter()
    await clock.advance(1)
    expect(await late).toBeInstanceOf(Unavailable)
    leave()
    ;(await next)()
    expect(clock.pending).toBe(0)
  })

  test('are not waited for by more than the bound', async () => {
    const places = createLongAnswers(createVirtualClock(), 1)
    await places.enter()
    for (let i = 0; i < 32; i++) void places.enter()
    await expect(places.enter()).rejects.toBeInstanceOf(Unavailable)
  })
})

describe('a client of a long answer', () => {
  const day = Date.UTC(2026, 0, 5) / 1000
  const count = 110_000
  const target = `/v1/history?symbol=BROKERA:ZERO:EURUSD&resolution=1&from=0&to=${day}`
  let edge: RestEdge

  beforeAll(async () => {
    edge = await openRestEdge()
    await edge.register(aFeed('BROKERA', 'ZERO'), aSymbol('BROKERA:ZERO:EURUSD'), aKey(1, ['BROKERA:ZERO']))
    const bars = Array.from({ length: count }, (_, i) => aBar(day - (count - i) * 60, 1 + i / 1e5))
    await edge.store('BROKERA:ZERO:EURUSD', '1', bars)
  })
  afterAll(() => edge.close())

  const held = async (): Promise<string | undefined> =>
    /fxd_history_long_answers\{state="held"\} (\d+)/.exec(await edge.metrics())?.[1]
  const untilHeld = async (wanted: string): Promise<void> => {
    while ((await held()) !== wanted) await edge.clock.advance(0)
  }
  /** Asks, and reads nothing. */
  const askAndStare = () => {
    const socket = connect(edge.port, '127.0.0.1')
      .on('error', () => undefined)
      .pause()
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${secretOf(1)}\r\n\r\n`)
    return socket
  }

  test('gives its place back when it goes away in the middle', async () => {
    const socket = askAndStare()
    await untilHeld('1')
    socket.destroy()
    await untilHeld('0')
    expect(await edge.metrics()).toContain('{state="waiting"} 0')
  })

  test('that does not read is cut, and its place given to others', async () => {
    const socket = askAndStare()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await untilHeld('1')
    await edge.clock.advance(60_000)
    await untilHeld('0')
    socket.resume()
    await closed
    expect(socket.destroyed).toBe(true)
  })

  test('gets its length by HEAD, and holds nothing', async () => {
    const head = await edge.ask(target, { key: 1, method: 'HEAD' })
    const got = await edge.ask(target, { key: 1 })
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(got.text)))
    await untilHeld('0')
  })
})
