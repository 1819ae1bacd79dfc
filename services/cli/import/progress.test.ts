import { beforeEach, describe, expect, test } from 'vitest'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { Progress } from './progress.ts'

let clock: VirtualClock
let shown = ''
const start = (watched: boolean, columns?: number): Progress => {
  const err = (text: string): void => void (shown += text)
  return new Progress({ clock, watched, columns, err })
}
beforeEach(() => {
  clock = createVirtualClock({ start: Date.UTC(2026, 0, 5) })
  shown = ''
})

describe('progress', () => {
  test('is one line every five seconds in a log, however often it changes', async () => {
    const progress = start(false)
    progress.begin('stored', 40_000)
    for (let second = 0; second < 12; second++) {
      for (let i = 0; i < 100; i++) progress.add(10)
      await clock.advance(1_000)
    }
    progress.end()
    expect(shown).toBe('stored 5,010 of 40,000 lines (12 %)\nstored 10,010 of 40,000 lines (25 %)\n')
  })

  test('is a bar that is drawn ten times a second for a person and erased at the end', async () => {
    const progress = start(true)
    progress.begin('stored', 1_000)
    for (let i = 0; i < 100; i++) {
      progress.add(10)
      await clock.advance(10)
    }
    progress.end()
    const [nothing, ...drawn] = shown.split('\r\u001B[K')
    expect([nothing, drawn.pop()]).toEqual(['', ''])
    expect(drawn).toHaveLength(9)
    expect(drawn[4]).toBe('[============            ] stored 510 of 1,000 lines (51 %)')
  })

  test.for([
    [40, '[============            ] stored 510 o'],
    [0, '[============            ] stored 510 of 1,000 lines (51 %)'],
  ] as const)('is shorter than a terminal of %d columns; 0 is an unknown width', async ([columns, line]) => {
    const progress = start(true, columns)
    progress.begin('stored', 1_000)
    await clock.advance(100)
    progress.add(510)
    expect(shown).toBe(`\r\u001B[K${line}`)
  })

  test('counts bytes while a file is read', async () => {
    const progress = start(false)
    progress.begin('read', 4_000_000, 'bytes')
    await clock.advance(6_000)
    progress.add(1_000_000)
    progress.end()
    expect(shown).toBe('read 1,000,000 of 4,000,000 bytes (25 %)\n')
  })

  test('is not shown for work that ends at once', () => {
    const progress = start(true)
    progress.begin('stored', 10)
    progress.add(10)
    progress.end()
    expect(shown).toBe('')
  })
})
