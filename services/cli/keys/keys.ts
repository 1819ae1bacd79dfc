import type { Command } from 'commander'
import { plans } from '../../core/keys/plan.ts'
import { countOption, type JsonOption, listOption, withJson } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import {
  createKey,
  type KeyOptions,
  listKeys,
  revokeKey,
  rotateKey,
  showKey,
  topKeys,
  updateKey,
} from './keys-actions.ts'

export function addKeys(program: Command, terminal: Terminal): void {
  const keys = program
    .command('keys')
    .helpCommand(false)
    .summary('issue and change API keys')
    .description('Issue and change API keys.')

  const create = keys
    .command('create')
    .summary('issue a key')
    .description('Issue a key. The key is printed only once; fxd stores only its SHA-256.')
    .requiredOption('--plan <plan>', plans.join(', '))
    .requiredOption('--feeds <list>', 'feeds the key may use: BROKERA:ZERO,BROKERB:LIVE', listOption)
  withKeyOptions(create, 'never by default').action((options: KeyOptions) => createKey(options, terminal))

  withJson(keys.command('list'))
    .summary('list all keys')
    .description('List all keys, oldest first.')
    .action((options: KeyOptions) => listKeys(options, terminal))

  withJson(keys.command('top'))
    .summary('list the keys with most requests today')
    .description(
      'List the keys with most requests on this UTC day, and their sockets open now. Keys without use today are left out.',
    )
    .option('--limit <n>', 'maximum keys, 1 to 200', countOption, 20)
    .action((options: JsonOption & { limit: number }) => topKeys(options, terminal))

  withJson(keys.command('show').argument('<id>', 'such as k_0123456789'))
    .summary('show one key')
    .description('Show one key.')
    .action((id: string, options: KeyOptions) => showKey(id, options, terminal))

  const update = keys
    .command('update')
    .argument('<id>', 'such as k_0123456789')
    .summary('change a key')
    .description('Change a key; other values stay. In effect within 5 s, also on open sockets.')
    .option('--plan <plan>', `${plans.join(', ')}; another plan sets its own limits`)
    .option('--feeds <list>', 'feeds in place of those the key has', listOption)
  withKeyOptions(update, '"never" removes the expiry').action((id: string, options: KeyOptions) =>
    updateKey(id, options, terminal),
  )

  withJson(keys.command('rotate').argument('<id>', 'such as k_0123456789'))
    .summary('give a key a new secret')
    .description('Give a key a new secret; id, limits, slots and usage stay.')
    .option('--overlap <time>', 'how long the old secret stays valid: 30s, 15m, 1h, 7d', '0s')
    .action((id: string, options: KeyOptions & { overlap: string }) => rotateKey(id, options, terminal))

  withJson(keys.command('revoke').argument('<id>', 'such as k_0123456789'))
    .summary('revoke a key permanently')
    .description('Revoke a key permanently. In effect within 5 s, also on open sockets.')
    .action((id: string, options: KeyOptions) => revokeKey(id, options, terminal))
}

const withKeyOptions = (command: Command, expiryNote: string): Command =>
  withJson(
    command
      .option('--rpm <n>', 'requests per minute', countOption)
      .option('--rpd <n>', 'requests per UTC day', countOption)
      .option('--ws-connections <n>', 'concurrent WebSocket connections', countOption)
      .option('--ws-symbols <n>', 'symbols per WebSocket connection', countOption)
      .option(
        '--allow-ip <list>',
        'addresses and CIDR blocks the key may be used from; "any": all',
        listOption,
      )
      .option('--expires <when>', `a date (the end of that UTC day) or an instant; ${expiryNote}`)
      .option('--name <words>', 'what the key is for'),
  )
