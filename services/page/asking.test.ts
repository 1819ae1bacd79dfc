import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FxdError } from '../../clients/typescript/src/error.ts'
import { askPatiently } from './asking.ts'
import { slowText } from './texts/failures.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Asks with answers that a test gives, and collects what a person reads. */
function asking(refused = false) {
  const notes: string[] = []
  const asked: PromiseWithResolvers<string>[] = []
  const abort = new AbortController()
  const answer = askPatiently(
    () => {
      asked.push(Promise.withResolvers())
      return asked.at(-1)!.promise
    },
    { signal: abort.signal, note: (text) => void notes.push(text), refused: () => refused },
  )
  return { answer, asked, notes, abort }
}

test('a quick answer clears the sentence, and no other is shown later', async () => {
  const { answer, asked, notes } = asking()
  asked[0]!.resolve('bars')
  expect(await answer).toBe('bars')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(notes).toEqual([''])
})

test('an answer that takes more than 3 s is said to be slow, and is given', async () => {
  const { answer, asked, notes } = asking()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(notes).toEqual([slowText])
  asked[0]!.resolve('bars')
  expect(await answer).toBe('bars')
  expect(notes).toEqual([slowText, ''])
})

test('a failure that may pass is asked again after the pause that the service wants', async () => {
  const { answer, asked, notes } = asking()
  asked[0]!.reject(new FxdError('RATE_LIMIT_EXCEEDED', 'full', { status: 429, retryAfter: 20 }))
  await vi.advanceTimersByTimeAsync(19_000)
  expect(asked).toHaveLength(1)
  expect(notes.join()).toMatch(
    /^Your key has used up its requests for now; the page continues at \d\d:\d\d:\d\d\.$/,
  )
  await vi.advanceTimersByTimeAsync(1_000)
  asked[1]!.resolve('bars')
  expect(await answer).toBe('bars')
})

test('a failure that stays is said, and is not asked again', async () => {
  const { answer, asked, notes } = asking()
  asked[0]!.reject(new FxdError('SYMBOL_NOT_FOUND', 'no', { status: 404 }))
  expect(await answer).toBeUndefined()
  expect(notes).toEqual(['There is no such symbol. Choose one from the list.'])
})

test('a failure of the key is left to the session', async () => {
  const { answer, asked, notes } = asking(true)
  asked[0]!.reject(new FxdError('KEY_EXPIRED', 'no', { status: 401 }))
  expect(await answer).toBeUndefined()
  expect(notes).toEqual([])
})

test('after another view was opened nothing is said or asked', async () => {
  const { answer, asked, notes, abort } = asking()
  abort.abort()
  asked[0]!.reject(new FxdError('UNAVAILABLE', 'no'))
  expect(await answer).toBeUndefined()
  await vi.advanceTimersByTimeAsync(10_000)
  expect([asked.length, notes]).toEqual([1, []])
})
