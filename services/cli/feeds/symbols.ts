import type { Command } from 'commander'
import { Fatal } from '../../platform/process/exit.ts'
import { type JsonOption, withJson } from '../options.ts'
import { json } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { withRegistry } from '../with-registry.ts'

export function addSymbols(program: Command, terminal: Terminal): void {
  const symbols = program
    .command('symbols')
    .helpCommand(false)
    .summary('remove a symbol that an import added, and free hidden names')
    .description(
      'Remove a symbol that an import added, and free hidden names. "fxd feeds show" lists the symbols of a feed.',
    )

  withJson(symbols.command('remove'))
    .argument('<feed>', 'such as BROKERA:ZERO')
    .argument('[symbol]', 'the clean name, such as EURUSD')
    .option('--hidden', 'free all hidden names without bars')
    .summary('remove an imported symbol from the catalogue, or free hidden names')
    .description(
      'Remove a symbol that an import added, such as a mistyped one, from the catalogue. Its bars stay stored and are\n' +
        'not served; an import under the same name serves them again. "fxd feeds purge" alone removes bars. A symbol\n' +
        "that the feed's manifest or collector lists is refused.\n\n" +
        'Hidden names count towards the maximum of a feed. A hidden name without bars is freed immediately: it does not\n' +
        'count, and it may be listed again. Without this command ingest frees it after a day.',
    )
    .action((feed: string, symbol: string | undefined, options: RemoveOptions) => {
      if ((symbol === undefined) !== (options.hidden === true))
        throw new Fatal(
          'usage',
          'got ' + (options.hidden ? 'a symbol and --hidden' : 'neither') + ', wanted a symbol or --hidden',
        )
      return removeSymbol({ feed, symbol: symbol ?? '', hidden: options.hidden === true }, options, terminal)
    })
}

interface RemoveOptions extends JsonOption {
  readonly hidden?: boolean
}

async function removeSymbol(
  request: { readonly feed: string; readonly symbol: string; readonly hidden: boolean },
  options: JsonOption,
  terminal: Terminal,
): Promise<void> {
  await withRegistry(terminal, async (registry) => {
    const { series, freed } = await registry.call('RemoveSymbol', request)
    const { feed, symbol, hidden } = request
    if (options.json) terminal.out(json(hidden ? { feed, freed } : { feed, symbol, series, freed }))
    else if (hidden)
      terminal.out(`${freed} hidden ${freed === 1 ? 'name' : 'names'} of ${feed} without bars freed.\n`)
    else
      terminal.out(
        `${feed}:${symbol} is ${freed === 0 ? removedText(series) : 'freed. It was hidden and had no bars.'}\n`,
      )
  })
}

const removedText = (series: number): string =>
  series === 0
    ? 'removed. It had no bars.'
    : `removed. The bars of ${series} series stay stored and are no longer served.`
