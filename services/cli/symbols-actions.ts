import { withRegistry } from './registry-client.ts'
import { json } from './table.ts'
import type { Terminal } from './terminal.ts'

export const removeSymbol = (
  feed: string,
  symbol: string,
  options: { readonly json?: boolean },
  terminal: Terminal,
): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const { series } = await registry.call('RemoveSymbol', { feed, symbol })
    const stays =
      series === 0 ? 'It had no bars.' : `The bars of ${series} series stay stored and are no longer served.`
    terminal.out(options.json ? json({ feed, symbol, series }) : `${feed}:${symbol} is removed. ${stays}\n`)
  })
