import type { Command } from 'commander'
import { type JsonOption, withJson } from './options.ts'
import { json } from './table.ts'
import type { Terminal } from './terminal.ts'

export function addSymbols(program: Command, terminal: Terminal): void {
  const symbols = program
    .command('symbols')
    .helpCommand(false)
    .summary('remove a symbol that an import added')
    .description('Remove a symbol that an import added. "fxd feeds show" lists the symbols of a feed.')

  withJson(symbols.command('remove'))
    .argument('<feed>', 'such as BROKERA:ZERO')
    .argument('<symbol>', 'the clean name, such as EURUSD')
    .summary('remove an imported symbol from the catalogue')
    .description(
      'Remove a symbol that an import added, such as a mistyped one, from the catalogue. Its bars stay stored and are\n' +
        'not served; an import under the same name serves them again. "fxd feeds purge" alone removes bars. A symbol\n' +
        "that the feed's manifest or collector lists is refused.",
    )
    .action((feed: string, symbol: string, options: JsonOption) =>
      removeSymbol(feed, symbol, options, terminal),
    )
}

async function removeSymbol(
  feed: string,
  symbol: string,
  options: JsonOption,
  terminal: Terminal,
): Promise<void> {
  // The gRPC client is loaded only here, so that `--help` does not wait for it.
  const { withRegistry } = await import('./registry-client.ts')
  await withRegistry(terminal, async (registry) => {
    const { series } = await registry.call('RemoveSymbol', { feed, symbol })
    const stays =
      series === 0 ? 'It had no bars.' : `The bars of ${series} series stay stored and are no longer served.`
    terminal.out(options.json ? json({ feed, symbol, series }) : `${feed}:${symbol} is removed. ${stays}\n`)
  })
}
