import { describe, expect, test } from 'vitest'
import { rawSeriesId } from '../series/series-id.ts'
import { Readjustments } from './readjustments.ts'

const id = rawSeriesId({ raw: 'A', resolution: '1' })

describe('re-adjusted symbols of a feed', () => {
  test('are read again one at a time, up to 5 % of them in a day; above it none is, until a new backfill', () => {
    const all = new Readjustments()
    all.welcomed(7)
    expect(all.note('A', 1, 50)).toBe('readAgain')
    expect(all.note('A', 1, 50)).toBe('nothing')
    expect(all.note('B', 1, 50)).toBe('readAgain')
    expect(all.next).toBe('A')
    all.done('A')
    expect(all.next).toBe('B')
    expect(all.note('C', 2, 50)).toBe('readAgain')
    expect(all.note('D', 2, 50)).toBe('readAgain')
    expect(all.note('E', 2, 50)).toBe('held')
    expect([all.isHeld, all.next, all.symbols]).toEqual([true, undefined, 5])
    expect(all.note('F', 3, 50)).toBe('nothing')
    all.welcomed(7)
    expect(all.isHeld).toBe(true)
    all.welcomed(8)
    expect(all.note('F', 3, 50)).toBe('readAgain')
  })

  test('may be one a day in a feed of few symbols', () => {
    const all = new Readjustments()
    expect(all.note('A', 1, 3)).toBe('readAgain')
    expect(all.note('B', 1, 3)).toBe('held')
  })

  test('are not released by the first backfill that a new collector learns of', () => {
    const all = new Readjustments()
    all.note('A', 1, 1)
    all.note('B', 1, 1)
    all.welcomed(9)
    expect(all.isHeld).toBe(true)
  })

  test('are looked for once a day in each series, and not while held', () => {
    const all = new Readjustments()
    expect(all.isDue(id, 1)).toBe(true)
    all.compared(id, 1)
    expect(all.isDue(id, 1)).toBe(false)
    expect(all.isDue(id, 2)).toBe(true)
    all.note('A', 2, 1)
    all.note('B', 2, 1)
    expect(all.isDue(id, 2)).toBe(false)
  })
})
