import fc from 'fast-check'
import { expect, test } from 'vitest'
import { didYouMean, suggest } from './suggest.ts'

test.each([
  ['BROKERA:ZER0', 'BROKERA:ZERO'],
  ['brokera:zero', 'BROKERA:ZERO'],
  ['BROKERA:PRIM', 'BROKERA:PRIME'],
  ['completely else', undefined],
  ['', undefined],
])('for "%s" the nearest of the known feeds is %s', (word, nearest) => {
  expect(suggest(word, ['BROKERA:ZERO', 'BROKERA:PRIME'])).toBe(nearest)
})

test.each(['', '7', 'H'])('for "%s" no word is suggested that shares no letter with it', (word) => {
  expect(suggest(word, ['1', '5', '1D'])).toBeUndefined()
})

test('a suggestion is a clause in parentheses; without a similar word it is empty', () => {
  expect(didYouMean('digts', ['digits', 'type'])).toBe(' (did you mean digits?)')
  expect(didYouMean('colour', ['digits', 'type'])).toBe('')
})

test('a known word is the nearest to itself and to every word one edit away', () => {
  const word = fc.string({ minLength: 2, maxLength: 20 })
  fc.assert(
    fc.property(word, fc.nat(19), fc.string({ minLength: 1, maxLength: 1 }), (known, at, letter) => {
      const mistyped = known.slice(0, at) + letter + known.slice(at + 1)
      expect(suggest(known, ['far away from every word', known])).toBe(known)
      expect(suggest(mistyped, [known])).toBe(known)
    }),
  )
})

test('a long word costs little', () => {
  expect(suggest('x'.repeat(1_000_000), ['x'])).toBeUndefined()
})
