import type { Command } from 'commander'
import { addStoreBegin } from './store-begin.ts'
import type { Terminal } from './terminal.ts'

export function addStore(program: Command, terminal: Terminal): void {
  const store = program
    .command('store')
    .helpCommand(false)
    .summary('accept a QuestDB that ingest refuses')
    .description('Accept a QuestDB that ingest refuses. "fxd doctor" says whether and why it is refused.')
  addStoreBegin(store, terminal)
}
