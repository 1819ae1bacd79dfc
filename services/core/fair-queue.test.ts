import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FairQueue, serviceReader } from './fair-queue.ts'

interface Read {
  readonly reader: { readonly key: string; readonly sinceMs: number }
  readonly n: number
  readonly isShort?: boolean
}

const read = (key: string, n: number, sinceMs = 0): Read => ({ reader: { key, sinceMs }, n })
const drain = (turns: FairQueue<Read>): string[] => {
  const taken: string[] = []
  for (let turn = turns.take(); turn; turn = turns.take()) taken.push(`${turn.next.reader.key}${turn.next.n}`)
  return taken
}

describe('turns', () => {
  test('keys take turns, and reads of one key are served in the order of their requests', () => {
    const turns = new FairQueue<Read>(100)
    for (let n = 1; n <= 4; n++) turns.add(read('a', n))
    for (let n = 1; n <= 2; n++) turns.add(read('b', n))
    turns.add(read('c', 1))
    expect(drain(turns)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  })

  test('every second turn is for a short entry, so a short one waits for one long entry of other keys', () => {
    const turns = new FairQueue<Read>(100)
    for (const key of ['a', 'b', 'c']) for (let n = 1; n <= 2; n++) turns.add(read(key, n))
    turns.take()
    turns.add({ ...read('short', 1), isShort: true })
    turns.add({ ...read('short', 2), isShort: true })
    expect(drain(turns)).toEqual(['b1', 'short1', 'c1', 'short2', 'a2', 'b2', 'c2'])
  })

  test("all reads of a key's earlier request are served before those of its later one", () => {
    const turns = new FairQueue<Read>(100)
    turns.add(read('a', 20, 2))
    turns.add(read('a', 10, 1))
    turns.add(read('a', 21, 2))
    turns.add(read('a', 11, 1))
    expect(drain(turns)).toEqual(['a10', 'a11', 'a20', 'a21'])
  })

  test('a new key waits for one read of a key with many reads', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 60 }), (flood, taken) => {
        const turns = new FairQueue<Read>(100)
        for (let n = 0; n < flood; n++) turns.add(read('a', n))
        for (let i = 0; i < taken; i++) turns.take()
        turns.add(read('b', 1))
        expect(drain(turns).indexOf('b1')).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('above the limit of a key its last read in order is dropped, not always the newest one', () => {
    const turns = new FairQueue<Read>(2)
    expect(turns.add(read('a', 1, 5))).toBeUndefined()
    expect(turns.add(read('a', 2, 5))).toBeUndefined()
    expect(turns.add(read('a', 3, 5))).toMatchObject({ n: 3 })
    expect(turns.add(read('a', 0, 1))).toMatchObject({ n: 2 })
    expect(drain(turns)).toEqual(['a0', 'a1'])
  })

  test('above the limit of all keys the longest queue drops its last read, and a new read waits', () => {
    const turns = new FairQueue<Read>(10)
    for (const key of ['a', 'b', 'c', 'd']) for (let n = 1; n <= 10; n++) turns.add(read(key, n))
    turns.take()
    expect(turns.add(read('e', 1))).toBeUndefined()
    expect(turns.size).toBe(40)
    expect(turns.add(read('e', 2))).toMatchObject({ reader: { key: 'd' }, n: 10 })
    expect(turns.size).toBe(40)
  })

  test('the turns of a key are forgotten once nothing of it waits', () => {
    const turns = new FairQueue<Read>(10)
    const [first, second, third] = [read('a', 1), read('a', 2), read('a', 3)]
    turns.add(first)
    turns.add(second)
    expect(turns.hasTurns(second)).toBe(false)
    turns.take()
    expect(turns.hasTurns(second)).toBe(true)
    expect([turns.delete(second), turns.delete(second), turns.size]).toEqual([true, false, 0])
    turns.add(third)
    expect(turns.hasTurns(third)).toBe(false)
    expect(turns.drop()).toBe(third)
    expect(turns.drop()).toBeUndefined()
  })

  test('each read is served at most once and the size is right, whatever is added, taken and deleted', () => {
    const step = fc.oneof(
      fc.record({ key: fc.constantFrom('a', 'b', 'c'), since: fc.nat(3) }),
      fc.constantFrom('take' as const, 'delete' as const),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const turns = new FairQueue<Read>(8)
        const waiting = new Set<Read>()
        steps.forEach((each, n) => {
          if (each === 'take') {
            const taken = turns.take()?.next
            expect(taken === undefined ? waiting.size === 0 : waiting.delete(taken)).toBe(true)
          } else if (each === 'delete') {
            const [some] = waiting
            if (some) expect([turns.delete(some), waiting.delete(some)]).toEqual([true, true])
          } else {
            const added = read(each.key, n, each.since)
            waiting.add(added)
            const left = turns.add(added)
            if (left) expect(waiting.delete(left)).toBe(true)
          }
          expect(turns.size).toBe(waiting.size)
        })
      }),
    )
  })

  test('a named reader is served before requests of the same key', () => {
    const turns = new FairQueue<{ reader: { key: string; sinceMs: number } }>(10)
    const [request, usage] = [{ reader: { key: 'a', sinceMs: 7 } }, { reader: serviceReader('a') }]
    turns.add(request)
    turns.add(usage)
    expect([turns.take(), turns.take()]).toEqual([
      { next: usage, turnsBefore: 0 },
      { next: request, turnsBefore: 1 },
    ])
  })
})
