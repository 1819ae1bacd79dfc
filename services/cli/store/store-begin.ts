import type { Command } from 'commander'
import { type JsonOption, withJson } from '../options.ts'
import { json } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { withRegistry } from '../with-registry.ts'

export function addStoreBegin(store: Command, terminal: Terminal): void {
  withJson(store.command('begin'))
    .summary('accept an empty or another QuestDB as a new beginning')
    .description(
      'Accept the QuestDB that ingest refuses, because it lost its data or is another server. Ingest makes the missing\n' +
        'tables. Bars, keys and feeds that this server lacks are gone for good. If there is a backup, stop all processes\n' +
        'of fxd instead, restore it, and start them.',
    )
    .action((options: JsonOption) => beginStore(options, terminal))
}

async function beginStore(options: JsonOption, terminal: Terminal): Promise<void> {
  await withRegistry(terminal, async (registry) => {
    const { storeIdentity } = await registry.call('BeginStore', {})
    const text =
      `The store begins anew with the identity ${storeIdentity}. Keys that it lacks must be made again; ` +
      'collectors send again what their sources still have.\n'
    terminal.out(options.json ? json({ storeIdentity }) : text)
  })
}
