import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Clocks } from './clocks.ts'
import type { Rest } from './rest.ts'

const feed = 'A:B'
const start = 1_792_890_000
/** Two hours ahead of UTC, then one: the clock fell back by an hour. */
const [before, after] = [-7_200, -3_600]

let offset: number | undefined
let asked = 0
const rest = {
  get: () => {
    asked += 1
    return Promise.resolve({ feeds: { [feed]: { clock_offset_seconds: offset } } })
  },
  getPatiently: () =>
    Promise.resolve({ server_time: start, feeds: { [feed]: { clock_offset_seconds: offset } } }),
} as unknown as Rest

const found: object[] = []
let clocks: Clocks
beforeEach(async () => {
  vi.useFakeTimers({ now: start * 1_000, toFake: ['Date', 'performance'] })
  offset = before
  asked = 0
  found.length = 0
  clocks = new Clocks(rest, new AbortController().signal, (...range) => void found.push(range))
  await clocks.begin()
})
afterEach(() => vi.useRealTimers())

/** A minute of the feed closes at this UTC time. */
const saw = (utc: number, clock: number) => {
  vi.setSystemTime(utc * 1_000)
  clocks.saw(feed, utc - clock - 60)
}

test('an hour of silence with a clock that fell back is a gap of that hour', async () => {
  saw(start, before)
  saw(start + 60, before)
  const newest = start + 60 - before - 60
  offset = after
  saw(start + 60 + 3_660, after)
  await clocks.review()
  expect(found).toEqual([[feed, newest - 3_600 + 60, newest]])
  await clocks.review()
  expect(asked).toBe(1)
})

test('an hour of silence without a change of the clock is no gap', async () => {
  saw(start, before)
  saw(start + 3_600, before)
  saw(start + 3_660, before)
  await clocks.review()
  expect(found).toEqual([])
})

test('while the clock is unknown after it was set, the question waits', async () => {
  saw(start, before)
  offset = undefined
  saw(start + 3_660, after)
  await clocks.review()
  expect(found).toEqual([])
  offset = after
  await clocks.review()
  expect(found).toHaveLength(1)
})

test('without a silence the service is not asked', async () => {
  for (let minute = 0; minute < 100; minute++) saw(start + minute * 60, before)
  await clocks.review()
  expect(asked).toBe(0)
})

test('the newest closed minute is on the clock of the feed', () => {
  vi.advanceTimersByTime(30_000)
  expect(clocks.newestClosed(feed)).toBe(start - before - 60)
  expect(clocks.newestClosed('C:D')).toBeUndefined()
})

test('a clock of the machine that is an hour fast does not change the newest closed minute', () => {
  vi.setSystemTime((start + 3_600) * 1_000)
  expect(clocks.newestClosed(feed)).toBe(start - before - 60)
})
