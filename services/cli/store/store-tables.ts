import type { Command } from 'commander'
import { Fatal } from '../../platform/process/exit.ts'
import { type JsonOption, withJson } from '../options.ts'
import { json } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { withRegistry } from '../with-registry.ts'

export function addStoreTables(store: Command, terminal: Terminal): void {
  withJson(store.command('accept'))
    .argument('[table]', 'such as fxd_bars_brokera_zero_h1; "fxd doctor" names them')
    .option('--all', 'all tables that are not the ones that fxd wrote')
    .summary('use a table as it is, after it was copied or restored')
    .description(
      'Use a table of QuestDB as it is. fxd refuses a table that was made again or copied, because it may lack bars that\n' +
        'coverage claims. Accept it if its rows are right. Within 2 s all processes use it, without a restart.',
    )
    .action((table: string | undefined, options: JsonOption & { readonly all?: boolean }) =>
      acceptTables(table, options, terminal),
    )

  withJson(store.command('refill'))
    .argument('<table>', 'such as fxd_bars_brokera_zero_h1; "fxd doctor" names them')
    .summary('let the collectors send the bars of a table again')
    .description(
      'Use a table of QuestDB as it is, or make it again when it is missing, and withdraw the coverage of its bars.\n' +
        'Collectors then send what their sources still have. Imported files have to be imported again.',
    )
    .action((table: string, options: JsonOption) => refillTable(table, options, terminal))
}

async function acceptTables(
  table: string | undefined,
  options: JsonOption & { readonly all?: boolean },
  terminal: Terminal,
): Promise<void> {
  if ((table === undefined) !== (options.all === true))
    throw new Fatal('usage', 'fxd store accept: name one table, or give --all.')
  await withRegistry(terminal, async (registry) => {
    const { accepted, missing } = await registry.call('AcceptTables', {
      tables: table === undefined ? [] : [table],
    })
    const lines = [
      ...accepted.map((name) => `${name} is accepted.\n`),
      ...missing.map((name) => `${name} is still missing.\n`),
    ]
    const text = lines.length > 0 ? lines.join('') : 'All tables are in order already.\n'
    terminal.out(options.json ? json({ accepted, missing }) : text)
  })
}

async function refillTable(table: string, options: JsonOption, terminal: Terminal): Promise<void> {
  await withRegistry(terminal, async (registry) => {
    await registry.call('RefillTable', { table })
    terminal.out(options.json ? json({ table }) : `${table} is in use. Collectors send its bars again.\n`)
  })
}
