import type { Command } from 'commander'
import { withJson } from './options.ts'
import type { Terminal } from './terminal.ts'

interface RemoveOptions {
  readonly json?: boolean
}

export function addSymbols(program: Command, terminal: Terminal): void {
  const symbols = program
    .command('symbols')
    .summary('take back a symbol that an import added')
    .description('Take back a symbol that an import added. "fxd feeds show" lists the symbols of a feed.')

  withJson(symbols.command('remove'))
    .argument('<feed>', 'such as BROKERA:ZERO')
    .argument('<symbol>', 'the clean name, such as EURUSD')
    .summary('remove an imported symbol from the catalogue')
    .description(
      'Remove a symbol that an import added, such as a mistyped one, from the catalogue. Its bars stay stored and are\n' +
        'not served; an import under the same name serves them again. "fxd feeds purge" alone removes bars. A symbol\n' +
        "that the feed's manifest or collector lists is refused.",
    )
    .action(async (feed: string, symbol: string, options: RemoveOptions) =>
      (await import('./symbols-actions.ts')).removeSymbol(feed, symbol, options, terminal),
    )
}
