import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compoundKey, feedKey } from '../../core/feeds/compound-key.ts'
import { Encoded } from './encoded.ts'
import { Subscriptions } from './subscriptions.ts'
import type { SymbolId } from './symbol-table.ts'

const feed = feedKey('BROKERA', 'ZERO')
const symbolOf = (n: number) => compoundKey(feed, `S${n}`)
/** What the socket of the row gets of the burst. */
function framesOf({ matrix }: Subscriptions, row: number, burst: Encoded): string {
  burst.seal()
  const found = new Uint32Array(burst.symbols.length)
  const symbols = found.subarray(0, matrix.common(row, burst, found))
  return Buffer.concat([...symbols].map((symbol) => burst.bytes[symbol]!)).toString('latin1')
}

describe('subscriptions', () => {
  test('equal those of a simple model (a map of sets) while rows are added, closed and reused', () => {
    const row = fc.nat(99)
    const symbol = fc.nat(599)
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), row, symbol }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), row, symbol }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const), row }) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const subscriptions = new Subscriptions()
        const rows = Array.from({ length: 100 }, () => subscriptions.openRow())
        const model = rows.map(() => new Set<SymbolId>())
        for (const each of steps) {
          if (each.kind === 'reopen') {
            subscriptions.closeRow(rows[each.row]!)
            rows[each.row] = subscriptions.openRow()
            model[each.row] = new Set()
          } else {
            const id = subscriptions.symbols.idOf(symbolOf(each.symbol))
            subscriptions[each.kind](rows[each.row]!, id)
            if (each.kind === 'add') model[each.row]!.add(id)
            else model[each.row]!.delete(id)
          }
        }
        rows.forEach((at, i) => {
          expect(subscriptions.idsOf(at)).toEqual([...model[i]!].sort((a, b) => a - b))
          expect(subscriptions.count(at)).toBe(model[i]!.size)
        })
        const ids = new Set(model.flatMap((set) => [...set]))
        const symbols = [...ids].map((id) => subscriptions.symbols.symbol(id))
        expect(new Set(subscriptions.symbols.subscribed())).toEqual(new Set(symbols))
        for (const id of ids) {
          expect(subscriptions.symbols.subscribers(id)).toBe(model.filter((set) => set.has(id)).length)
        }
        expect(subscriptions.symbols.subscriptions).toBe(model.reduce((sum, set) => sum + set.size, 0))
      }),
    )
  })

  test('a socket gets the frames of its symbols and no others', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(400)), fc.array(fc.nat(400)), (subscribed, closed) => {
        const subscriptions = new Subscriptions()
        const row = subscriptions.openRow()
        const ids = Array.from({ length: 401 }, (_, n) => subscriptions.symbols.idOf(symbolOf(n)))
        for (const n of subscribed) subscriptions.add(row, ids[n]!)
        const burst = new Encoded()
        closed.forEach((n, i) => burst.add(ids[n]!, `[${n} ${i}]`))
        const frames = framesOf(subscriptions, row, burst).match(/\[.*?\]/g) ?? []
        const expected = closed.flatMap((n, i) => (subscribed.includes(n) ? [`[${n} ${i}]`] : []))
        expect(frames.toSorted()).toEqual(expected.toSorted())
        for (const n of new Set(closed)) {
          const ofSymbol = (list: readonly string[]) => list.filter((each) => each.startsWith(`[${n} `))
          expect(ofSymbol(frames)).toEqual(ofSymbol(expected))
        }
      }),
    )
  })

  test('a cleared burst contains no earlier frames', () => {
    const subscriptions = new Subscriptions()
    const row = subscriptions.openRow()
    const ids = Array.from({ length: 301 }, (_, n) => subscriptions.symbols.idOf(symbolOf(n)))
    for (const id of ids) subscriptions.add(row, id)
    const burst = new Encoded()
    burst.add(ids[3]!, 'old')
    burst.add(ids[300]!, 'old')
    burst.clear()
    expect(burst.empty).toBe(true)
    burst.add(ids[3]!, 'new')
    expect(framesOf(subscriptions, row, burst)).toBe('new')
  })
})
