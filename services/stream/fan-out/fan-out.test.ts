import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { compoundKey, feedKey } from '../../core/feeds/compound-key.ts'
import { burstWaitMsMax, FanOut } from './fan-out.ts'
import { Subscriptions } from './subscriptions.ts'

const feed = feedKey('BROKERA', 'ZERO')

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

function open(sockets: number) {
  const clock = createVirtualClock()
  const subscriptions = new Subscriptions()
  const writes: { row: number; frames: string }[] = []
  const bursts: number[] = []
  const fanOut = new FanOut(
    clock,
    subscriptions,
    (row, frames) => writes.push({ row, frames: frames.toString('latin1') }) > 0,
    (ms) => bursts.push(ms),
  )
  const rows = Array.from({ length: sockets }, () => subscriptions.openRow())
  const id = (name: string) => subscriptions.symbols.idOf(compoundKey(feed, name))
  for (const row of rows) for (const name of ['A', 'B']) subscriptions.add(row, id(name))
  return { clock, subscriptions, writes, bursts, fanOut, id }
}

describe('a burst', () => {
  test('T8: every socket gets one write for all bars that close together', async () => {
    const { clock, writes, fanOut, id, bursts } = open(1_200)
    fanOut.push(id('A'), 'a1')
    fanOut.push(id('B'), 'b1')
    fanOut.push(id('A'), 'a2')
    expect(writes).toEqual([])
    await expect.poll(() => clock.advance(1).then(() => bursts.length)).toBe(1)
    expect(writes).toHaveLength(1_200)
    expect(new Set(writes.map(({ row }) => row)).size).toBe(1_200)
    expect(new Set(writes.map(({ frames }) => frames))).toEqual(new Set(['a1a2b1']))
  })

  test('with many open sockets a burst waits some milliseconds for frames of other feeds', async () => {
    const { clock, writes, fanOut, id, bursts } = open(1_200)
    fanOut.push(id('A'), 'a1')
    await clock.advance(burstWaitMsMax - 1)
    expect(writes).toEqual([])
    fanOut.push(id('B'), 'b1')
    await clock.advance(1)
    await expect.poll(() => bursts.length).toBe(1)
    expect(writes).toHaveLength(1_200)
    expect(new Set(writes.map(({ frames }) => frames))).toEqual(new Set(['a1b1']))
  })

  test('with few open sockets a burst does not wait, even if many were open before', async () => {
    const { subscriptions, writes, fanOut, id } = open(1_200)
    for (let row = 30; row < 1_200; row++) subscriptions.closeRow(row)
    fanOut.push(id('A'), 'a1')
    await turn()
    await turn()
    await turn()
    expect(writes).toHaveLength(30)
  })

  test('frames are written once the last burst ends', async () => {
    const { clock, writes, fanOut, id } = open(3_000)
    expect(fanOut.written()).toBeUndefined()
    fanOut.push(id('A'), 'a1')
    let written: number | undefined
    void fanOut.written()?.then(() => (written = writes.length))
    clock.freezeFor(burstWaitMsMax)
    await clock.advance(0)
    fanOut.push(id('A'), 'a2')
    await expect.poll(() => clock.advance(1).then(() => written)).toBe(6_000)
    expect(fanOut.written()).toBeUndefined()
  })

  test('other work runs between slices, and frames that arrive meanwhile are sent afterwards', async () => {
    const { clock, writes, fanOut, id, bursts } = open(3_000)
    fanOut.push(id('A'), 'a1')
    clock.freezeFor(burstWaitMsMax)
    await clock.advance(0)
    expect(writes.length).toBeGreaterThan(0)
    expect(writes.length).toBeLessThan(3_000)
    fanOut.push(id('A'), 'a2')
    await expect.poll(() => clock.advance(1).then(() => bursts.length)).toBe(2)
    expect(writes.slice(0, 3_000).every(({ frames }) => frames === 'a1')).toBe(true)
    expect(writes.slice(3_000).every(({ frames }) => frames === 'a2')).toBe(true)
    expect(writes).toHaveLength(6_000)
  })

  test('flush writes the rest of the running burst and all waiting frames immediately, each once', async () => {
    const { clock, writes, fanOut, id } = open(1_200)
    fanOut.push(id('A'), 'a1')
    clock.freezeFor(burstWaitMsMax)
    await clock.advance(0)
    fanOut.push(id('B'), 'b1')
    fanOut.flush()
    expect(writes).toHaveLength(2_400)
    await clock.advance(10)
    expect(writes).toHaveLength(2_400)
  })

  test('sockets that are opened and closed during a burst do not affect the others', async () => {
    const change = fc.record({ opened: fc.nat(9), closed: fc.array(fc.nat(), { maxLength: 9 }) })
    const anyCase = [fc.integer({ min: 1, max: 3_000 }), fc.array(change, { maxLength: 4 })] as const
    await fc.assert(
      fc.asyncProperty(...anyCase, async (sockets, changes) => {
        const { clock, subscriptions, writes, bursts, fanOut, id } = open(sockets)
        const served = () => writes.map(({ row }) => row)
        const rows = Array.from({ length: sockets }, (_, row) => row)
        const stay = new Set(rows)
        const closedUnserved = new Set<number>()
        fanOut.push(id('A'), 'a')
        clock.freezeFor(burstWaitMsMax)
        await clock.advance(0)
        for (const { opened, closed } of changes) {
          await turn()
          if (bursts.length > 0) break
          for (const nth of closed) {
            const row = [...stay][nth % stay.size]
            if (row === undefined) break
            stay.delete(row)
            if (!served().includes(row)) closedUnserved.add(row)
            subscriptions.closeRow(row)
          }
          for (let i = 0; i < opened; i++) subscriptions.openRow()
        }
        fanOut.flush()
        expect(served().toSorted((x, y) => x - y)).toEqual(rows.filter((row) => !closedUnserved.has(row)))
      }),
      { examples: [[3_000, [{ opened: 1, closed: [] }]]] },
    )
  })

  test('bursts begin with different sockets', () => {
    const { writes, fanOut, id } = open(10)
    const firsts = new Set<number>()
    for (let i = 0; i < 20; i++) {
      fanOut.push(id('A'), 'a')
      fanOut.flush()
      firsts.add(writes.splice(0)[0]!.row)
    }
    expect(firsts.size).toBe(10)
  })

  test('a burst without sockets ends', () => {
    const { fanOut, id } = open(0)
    fanOut.push(id('A'), 'a')
    expect(() => fanOut.flush()).not.toThrow()
  })
})

describe('the memory of writes', () => {
  test('bytes that a socket still queues are never overwritten', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }),
        fc.nat(40_000),
        async (leave, long) => {
          const subscriptions = new Subscriptions()
          const queued: { frames: Buffer; text: string }[] = []
          let writes = 0
          const fanOut = new FanOut(
            createVirtualClock(),
            subscriptions,
            (_, frames) => {
              const hasLeft = leave[writes++ % leave.length] ?? true
              if (!hasLeft) queued.push({ frames, text: frames.toString('latin1') })
              return hasLeft
            },
            () => undefined,
          )
          const symbol = subscriptions.symbols.idOf(compoundKey(feed, 'A'))
          for (let row = 0; row < 5; row++) subscriptions.add(subscriptions.openRow(), symbol)
          for (let burst = 0; burst < 10; burst++) {
            fanOut.push(symbol, `${burst} ${'x'.repeat(long)}`)
            fanOut.flush()
          }
          for (const { frames, text } of queued) expect(frames.toString('latin1')).toBe(text)
        },
      ),
    )
  })

  test('a write that is larger than the reused memory is whole', () => {
    const { writes, fanOut, id } = open(2)
    fanOut.push(id('A'), 'a'.repeat(200_000))
    fanOut.push(id('B'), 'b'.repeat(200_000))
    fanOut.flush()
    expect(writes.map(({ frames }) => frames)).toEqual(
      Array(2).fill('a'.repeat(200_000) + 'b'.repeat(200_000)),
    )
  })
})
