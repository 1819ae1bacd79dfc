import type { Command } from 'commander'
import { daySeconds } from '../../core/clocks/calendar.ts'
import { Fatal } from '../../platform/process/exit.ts'
import { parseFeedTime, timeHelp } from '../feed-time.ts'
import { type JsonOption, listOption, withJson } from '../options.ts'
import { json, table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { minuteText } from '../time-text.ts'
import { withRegistry } from '../with-registry.ts'

interface BackfillOptions extends JsonOption {
  readonly from: string
  readonly to: string
  readonly resolution?: readonly string[]
}

export function addBackfill(program: Command, terminal: Terminal): void {
  withJson(program.command('backfill'))
    .argument('<feed>', 'such as BROKERA:ZERO')
    .argument('[symbol]', 'the clean name, such as EURUSD; default: all symbols')
    .requiredOption('--from <time>', timeHelp)
    .requiredOption('--to <time>', 'the same, exclusive; a date means the end of that day')
    .option('--resolution <list>', 'such as 1,60; default: all that the feed stores', listOption)
    .summary('let the collector of a feed send a time range again')
    .description(
      'Let the collector of a feed send the bars of a time range again, such as after its broker has corrected them.\n' +
        'fxd withdraws the coverage of the range. The collector then reads it again, and replaces the bars that differ.\n' +
        'Bars stay stored. What its source no longer has stays without coverage; imported files have to be imported again.',
    )
    .action((feed: string, symbol: string | undefined, options: BackfillOptions) =>
      backfill(feed, symbol ?? '', options, terminal),
    )
}

async function backfill(
  feed: string,
  symbol: string,
  options: BackfillOptions,
  terminal: Terminal,
): Promise<void> {
  const [from, to] = [parseFeedTime('--from', options.from, 0), parseFeedTime('--to', options.to, daySeconds)]
  if (from >= to)
    throw new Fatal('usage', `--from is ${options.from}; it must be before --to, ${options.to}.`)
  await withRegistry(terminal, async (registry) => {
    const resolutions = [...(options.resolution ?? [])]
    const { ranges } = await registry.call('Backfill', { feed, symbol, resolutions, from, to })
    if (options.json) return terminal.out(json({ feed, symbol: symbol || null, ranges }))
    if (ranges.length === 0) return terminal.out(`${feed} has no coverage in this range. ${next}\n`)
    const rows = ranges.map((range) => [
      range.resolution,
      minuteText(range.from),
      minuteText(range.to),
      String(range.symbols),
    ])
    terminal.out(`${table(['RESOLUTION', 'FROM', 'TO', 'SYMBOLS'], rows)}${next}\n`)
  })
}

const next = 'Its collector sends again what its source has.'
