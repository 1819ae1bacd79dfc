import { expect, test } from 'vitest'
import type { SymbolInfo } from '../../../clients/typescript/src/types.ts'
import { meant } from './symbol-box.ts'

const keys = ['A:X:BTCUSD', 'A:X:EURUSD', 'A:X:EURUSDX', 'A:X:XAU', 'A:X:xau', 'B:Y:EURUSD']
const symbols = keys.map((symbol) => ({ symbol }) as SymbolInfo)

test.for([
  ['btc', ['A:X:BTCUSD']],
  ['eurusd', ['A:X:EURUSD', 'B:Y:EURUSD']],
  ['EURUSDX', ['A:X:EURUSDX']],
  ['b:y:eurusd', ['B:Y:EURUSD']],
  ['A:X:XAU', ['A:X:XAU']],
  ['xau', ['A:X:XAU', 'A:X:xau']],
  ['none', []],
] as const)('"%s" means %s', ([text, found]) => {
  expect(meant(text, symbols).map(({ symbol }) => symbol)).toEqual(found)
})
