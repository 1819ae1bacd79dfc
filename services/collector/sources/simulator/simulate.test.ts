import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bars, barCount, toList } from '../../../core/bars/bar.ts'
import { barFault } from '../../../core/bars/bar-rules.ts'
import { createFold } from '../../../core/bars/derive.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { instrumentOf, type SimulatedSymbol } from './instrument.ts'
import { type Simulation, simulate } from './simulate.ts'

const symbols: SimulatedSymbol[] = [
  { name: 'EURUSD', type: 'forex', digits: 5, session: '24x5' },
  { name: 'BTCUSD', type: 'crypto', digits: 2, session: '24x7' },
  { name: 'BRKb_CFD.US', type: 'cfd', digits: 2, session: '24x5' },
]
const daySeconds = 86_400
const monday = Date.UTC(2026, 0, 5) / 1000

const simulationOf = (symbol: SimulatedSymbol): Simulation => ({
  symbol,
  instrument: instrumentOf(symbol, 7),
  hoursToUtc: -3,
})
const all = (simulation: Simulation, r: Resolution, from: number, to: number) =>
  [...simulate(simulation, r, feedSeconds(from), feedSeconds(to))].flatMap(toList)
const folded = (pieces: Iterable<Bars>, r: Resolution) => {
  const fold = createFold(r)
  return [...[...pieces].map((bars) => fold.push(bars)), fold.end()].flatMap(toList)
}

describe.each(symbols)('the simulated $name', (symbol) => {
  const simulation = simulationOf(symbol)

  test.each(['5', '15', '60', '120', '240', '1D', '1W'] as const)(
    'has the same bars at %s as its folded minutes',
    (r) => {
      const from = feedSeconds(monday - daySeconds)
      const to = feedSeconds(monday + 6 * daySeconds)
      const minutes = [...simulate(simulation, '1', from, to)]
      expect(minutes.length).toBeGreaterThan(0)
      expect(all(simulation, r, from, to)).toEqual(folded(minutes, r))
    },
  )

  test('returns the same bars however a span is divided', () => {
    const whole = all(simulation, '60', monday, monday + 21 * daySeconds)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 21 * 24 - 1 }), (hours) => {
        const cut = monday + hours * 3_600
        expect([
          ...all(simulation, '60', monday, cut),
          ...all(simulation, '60', cut, monday + 21 * daySeconds),
        ]).toEqual(whole)
      }),
      { numRuns: 20 },
    )
  })

  test('returns bars that ingest accepts', () => {
    for (const r of ['1', '5', '60', '1D', '1M'] as const) {
      for (const bar of all(simulation, r, monday - 40 * daySeconds, monday + 5 * daySeconds)) {
        expect(barFault(bar, r, {})).toBeUndefined()
      }
    }
  })
})

test('a 24x5 symbol has no bars at weekends, a share none outside its hours and in quiet minutes', () => {
  const [forex, crypto, share] = symbols.map(simulationOf) as [Simulation, Simulation, Simulation]
  const count = (simulation: Simulation) =>
    [...simulate(simulation, '1', feedSeconds(monday), feedSeconds(monday + 7 * daySeconds))].reduce(
      (sum, bars) => sum + barCount(bars),
      0,
    )
  expect(count(crypto)).toBe(7 * 1_440)
  expect(count(forex)).toBe(5 * 1_440)
  expect(count(share)).toBeGreaterThan(5 * 7 * 60 * 0.5)
  expect(count(share)).toBeLessThan(5 * 7 * 60 * 0.95)
})
