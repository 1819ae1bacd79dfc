import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { complaintsOf } from '../../terminals/lint.ts'
import { joined, programPath } from '../../terminals/programs.ts'

const kinds = ['mt5', 'mt4'] as const

test.for(kinds)('the program of %s equals its joined sources', (kind) => {
  expect(readFileSync(programPath(kind), 'utf8'), 'run make terminals').toBe(joined(kind))
})

test.for(kinds)('the program of %s uses only the subset', (kind) => {
  expect(complaintsOf(joined(kind), kind)).toEqual([])
})

test('the shared source has at most 400 lines', () => {
  const shared = readFileSync(join(import.meta.dirname, '../../terminals/bridge.mqh'), 'utf8')
  expect(shared.split('\n').length - 1).toBeLessThanOrEqual(400)
})

test.for([
  ['auto x=1;', 'auto is not in the subset'],
  ['std::vector<int> names;', 'std is not in the subset'],
  ['int *at=&x;', 'a pointer'],
  ['double x=SymbolInfoDouble(raw,SYMBOL_BID);', 'SymbolInfoDouble is not in the subset'],
  ['int &x=y;', 'a reference to a local variable'],
  ['int x=(1,2);', 'the comma operator'],
  ['void f() { g([](){}); }', 'a lambda'],
  ['string text="Grüße";', 'a character that is not ASCII'],
  ['int x=1; int x=2;', 'x is declared twice'],
] as const)('the lint refuses %s', ([line, complaint]) => {
  expect(complaintsOf(line, 'mt5').join('\n')).toContain(complaint)
})

test('the lint refuses in MetaTrader 4 what only MetaTrader 5 has', () => {
  const text = 'long x=SeriesInfoInteger(Address,PERIOD_M10,SERIES_SYNCHRONIZED)+TimeTradeServer();'
  const complaints = complaintsOf(text, 'mt4').join('\n')
  for (const name of ['PERIOD_M10', 'SERIES_SYNCHRONIZED', 'TimeTradeServer'])
    expect(complaints).toContain(name)
  expect(complaintsOf('void f() { EventSetMillisecondTimer(50); }', 'mt5').join()).toContain(
    'EventSetMillisecondTimer',
  )
})
