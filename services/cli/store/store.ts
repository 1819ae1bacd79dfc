import type { Command } from 'commander'
import type { Terminal } from '../terminal.ts'
import { addStoreBegin } from './store-begin.ts'
import { addStoreTables } from './store-tables.ts'

export function addStore(program: Command, terminal: Terminal): void {
  const store = program
    .command('store')
    .helpCommand(false)
    .summary('accept a QuestDB that ingest refuses, or tables that were lost')
    .description(
      'Decide what is right after QuestDB was lost, replaced or copied. "fxd doctor" says what is refused.',
    )
  addStoreBegin(store, terminal)
  addStoreTables(store, terminal)
}
