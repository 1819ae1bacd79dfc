import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EncodedRows } from './rows.ts'
import { Slices } from './slices.ts'

function rowsOf(count: number): EncodedRows {
  const lines = Array.from({ length: count }, (_, i) => Buffer.from(`row ${'x'.repeat(i % 3)}${i}\n`))
  let end = 0
  const ends = lines.map(({ length }) => {
    end += length
    return end
  })
  return { table: 't', bytes: Buffer.concat(lines), ends }
}

const texts = (slices: Slices): string[] => slices.lines().map((line) => line.toString())

test('taking rows out one by one leaves all other rows, once each and in order', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), fc.array(fc.nat(40), { maxLength: 40 }), (count, places) => {
      let left = new Slices(rowsOf(count))
      const expected = texts(left)
      for (const place of places.filter((each) => each < count)) {
        if (place >= expected.length) continue
        const [one, others] = left.takeOut(place)
        expect(texts(one)).toEqual(expected.splice(place, 1))
        expect(texts(others)).toEqual(expected)
        expect(others.bytes().toString()).toBe(expected.join(''))
        expect(others.count).toBe(expected.length)
        const [front, back] = others.halves()
        expect([...texts(front), ...texts(back)]).toEqual(expected)
        left = others
      }
    }),
  )
})
