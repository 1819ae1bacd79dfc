import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Answer,
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
  secretOf,
} from '../../../../test/support/fixtures/rest-fixture.ts'
import { readMsMax, readMsMaxWhileOthersWait, waitMs } from './answer-memory.ts'

describe('a client of a long answer', () => {
  const day = Date.UTC(2026, 0, 5) / 1000
  const count = 110_000
  const target = `/v1/history?symbol=BROKERA:ZERO:EURUSD&resolution=1&from=0&to=${day}`
  let edge: RestFixture
  let wholeBytes: number
  /** Called before each read of the store. */
  let beforeRead = (): Promise<void> | void => undefined

  beforeAll(async () => {
    edge = await openRestFixture({
      around: ({ bars, ...stores }) => ({
        ...stores,
        bars: {
          ...bars,
          read: async (query) => {
            await beforeRead()
            return bars.read(query)
          },
        },
      }),
    })
    await edge.register(
      aFeed('BROKERA', 'ZERO'),
      aSymbol('BROKERA:ZERO:EURUSD'),
      aKey(1, ['BROKERA:ZERO']),
      aKey(2, ['BROKERA:ZERO']),
    )
    const bars = Array.from({ length: count }, (_, i) => aBar(day - (count - i) * 60, 1 + i / 1e5))
    await edge.store('BROKERA:ZERO:EURUSD', '1', bars)
    wholeBytes = Buffer.byteLength((await edge.ask(target, { key: 1 })).text)
  })
  afterAll(() => edge.close())

  const longAnswers = async (): Promise<string | undefined> =>
    /fxd_history_long_answers\{state="held"\} (\d+)/.exec(await edge.metrics())?.[1]
  const untilHeld = async (wanted: string): Promise<void> => {
    while ((await longAnswers()) !== wanted) await edge.clock.advance(0)
  }
  const heldBytes = 'fxd_history_held_bytes'
  const waiting = 'fxd_history_long_answers{state="waiting"}'
  const measured = async (name: string): Promise<number> =>
    Number(new RegExp(`^${RegExp.escape(name)} (\\d+)`, 'm').exec(await edge.metrics())?.[1])
  /** Sends a request, and reads the beginning of the answer only. */
  const askAndStare = (key = 1) => {
    const socket = connect(edge.port, '127.0.0.1').on('error', () => undefined)
    const asked = { socket, isAnswered: false }
    socket.once('readable', () => (asked.isAnswered = true))
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${secretOf(key)}\r\n\r\n`)
    return asked
  }
  /** Each read of the metrics takes time of the service. */
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await edge.clock.advance(0)
  }

  test('frees its memory when it disconnects during the answer', async () => {
    const { socket } = askAndStare()
    await untilHeld('1')
    socket.destroy()
    await untilHeld('0')
    expect(await edge.metrics()).toContain('{state="waiting"} 0')
  })

  test('that does not read is cut, and its memory is free for others', async () => {
    const asked = askAndStare()
    const { socket } = asked
    const closed = new Promise((resolve) => socket.once('close', resolve))
    while (!asked.isAnswered) await edge.clock.advance(0)
    await edge.clock.advance(readMsMax(wholeBytes) - 1_000)
    expect(await longAnswers()).toBe('1')
    await edge.clock.advance(1_000)
    await untilHeld('0')
    socket.resume()
    await closed
    expect(socket.destroyed).toBe(true)
  })

  test('gets 500 within two seconds while other answers of its key use the memory, and its answer after they end', async () => {
    const keyBytes = 16 * 1_048_576
    const full = Math.floor(keyBytes / wholeBytes)
    const stared: ReturnType<typeof askAndStare>[] = []
    for (let i = 0; i < full; i++) {
      const asked = askAndStare()
      stared.push(asked)
      while (!asked.isAnswered) await edge.clock.advance(0)
    }
    // It is refused, or it is the oversize one.
    const last = askAndStare()
    while (!last.isAnswered && (await measured(waiting)) === 0) await turns()
    const already = await measured(waiting)
    const answer = edge.ask(target, { key: 1 })
    let refused: Answer | undefined
    void answer.then((each) => (refused = each))
    while ((await measured(waiting)) === already) await turns()
    await edge.clock.advance(waitMs)
    while (!refused) await edge.clock.advance(0)
    expect(await measured(heldBytes)).toBeGreaterThan(keyBytes - wholeBytes)
    expect(await measured('fxd_history_refused_answers_total')).toBeGreaterThan(0)
    expect([refused.status, refused.headers['retry-after'], refused.body.s]).toEqual([500, '2', 'error'])
    expect(await measured(heldBytes)).toBeLessThan(keyBytes + wholeBytes)
    expect((await edge.ask(target, { key: 2 })).status).toBe(200)
    for (const { socket } of [...stared, last]) socket.destroy()
    await untilHeld('0')
    expect(await measured(heldBytes)).toBe(0)
    expect((await edge.ask(target, { key: 1 })).status).toBe(200)
  }, 60_000)

  test('gets its answer if it waited for memory, and then for the store', async () => {
    const stared = [askAndStare()]
    while (!stared.at(-1)?.isAnswered || (await measured(heldBytes)) + wholeBytes <= 16 * 1_048_576) {
      if (stared.at(-1)?.isAnswered) stared.push(askAndStare())
      await edge.clock.advance(0)
    }
    // The oversize one.
    const last = askAndStare()
    while (!last.isAnswered) await edge.clock.advance(0)
    const answer = edge.ask(target, { key: 1 })
    while ((await measured(waiting)) === 0) await turns()
    await edge.clock.advance(waitMs - 100)
    const asked = Promise.withResolvers<void>()
    const store = Promise.withResolvers<void>()
    beforeRead = () => {
      asked.resolve()
      return store.promise
    }
    for (const { socket } of [...stared, last]) socket.destroy()
    await asked.promise
    await edge.clock.advance(1_000)
    beforeRead = () => undefined
    store.resolve()
    expect((await answer).status).toBe(200)
    await untilHeld('0')
  }, 60_000)

  test('that reads the oversize answer for too long is cut for an answer of another key', async () => {
    /** Answers that a key may hold within its quarter. */
    const full = Math.floor((16 * 1_048_576) / wholeBytes)
    const stared: ReturnType<typeof askAndStare>[] = []
    const stare = async (key: number): Promise<Socket> => {
      const asked = askAndStare(key)
      stared.push(asked)
      while (!asked.isAnswered) await edge.clock.advance(0)
      return asked.socket
    }
    for (let i = 0; i < full; i++) await stare(1)
    const oversize = await stare(1)
    for (let i = 0; i < full; i++) await stare(2)
    const closed = new Promise((resolve) => oversize.once('close', resolve))
    await edge.clock.advance(readMsMaxWhileOthersWait(wholeBytes) + 1_000)
    const held = await longAnswers()
    expect((await edge.ask(target, { key: 2 })).status).toBe(200)
    oversize.resume()
    await closed
    expect(held).toBe(String(2 * full + 1))
    for (const { socket } of stared) socket.destroy()
    await untilHeld('0')
  }, 60_000)

  test('causes no warning of Node', async () => {
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    await edge.ask(target, { key: 1 })
    await turns()
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test('gets its length by HEAD, without any memory', async () => {
    const head = await edge.ask(target, { key: 1, method: 'HEAD' })
    const got = await edge.ask(target, { key: 1 })
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(got.text)))
    await untilHeld('0')
  })
})
