import type { Session, SymbolType } from '../../../core/feeds/symbol.ts'
import { isShareCfd } from '../../../core/feeds/symbol-name.ts'
import { busy, quiet } from './liquidity.ts'
import { chance, seedOf } from './noise.ts'
import type { Instrument } from './price-path.ts'

/** Prices that a person expects; other names get a price typical for their type. */
const knownPrices: ReadonlyMap<string, number> = new Map([
  ['EURUSD', 1.085],
  ['GBPUSD', 1.27],
  ['USDJPY', 149.5],
  ['XAUUSD', 2350],
  ['XAGUSD', 28.4],
  ['BTCUSD', 64_000],
  ['ETHUSD', 3_200],
  ['US500', 5_200],
  ['DE40', 18_300],
])

const typical: Readonly<Record<SymbolType, { readonly price: number; readonly volatility: number }>> = {
  forex: { price: 1.2, volatility: 0.0007 },
  crypto: { price: 900, volatility: 0.004 },
  index: { price: 9_000, volatility: 0.0015 },
  cfd: { price: 150, volatility: 0.0022 },
}

export interface SimulatedSymbol {
  readonly name: string
  readonly type: SymbolType
  readonly digits: number
  readonly session: Session
}

/** The same name and seed always return the same instrument. */
export function instrumentOf(symbol: SimulatedSymbol, feedSeed: number): Instrument {
  const seed = seedOf(`${feedSeed} ${symbol.name}`)
  const { price, volatility } = typical[symbol.type]
  return {
    seed,
    basePrice: knownPrices.get(symbol.name) ?? price * (0.5 + 2 * chance(seed, 0, 0)),
    volatility,
    digits: symbol.digits,
    liquidity: isShareCfd(symbol.name) ? quiet : busy,
  }
}
