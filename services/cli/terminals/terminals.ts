import type { Command } from 'commander'
import { type JsonOption, withJson } from '../options.ts'
import type { Terminal } from '../terminal.ts'

/** Commands for feeds whose terminal posts its bars. */
export function addTerminals(program: Command, terminal: Terminal): void {
  const terminals = program
    .command('terminal')
    .helpCommand(false)
    .summary('make tokens for terminals, and post as a terminal does')
    .description('Make tokens for the terminals of feeds with source Terminal, and post as a terminal does.')

  withJson(terminals.command('token').argument('<feed>', 'such as BROKERA:ZERO'))
    .option('--remove-older', 'refuse all earlier tokens of this feed from now on')
    .summary('make a token for the terminal of a feed')
    .description(
      'Make a token for the terminal of a feed. It is printed once; only its digest is stored, in FXD_TERMINAL_TOKENS. The\n' +
        'newest earlier token of the feed stays valid, until the next one is made. A collector reads the file again within 10 s.',
    )
    .action(async (feed: string, options: JsonOption & { readonly removeOlder?: boolean }) =>
      (await import('./token.ts')).makeToken(feed, options, terminal),
    )

  terminals
    .command('say')
    .argument('<address>', 'where the collector listens for terminals: 127.0.0.1:8091 or https://host/prefix')
    .argument('[file]', 'lines of docs/terminal-protocol.md without their first line; - reads standard input')
    .requiredOption('--token <token>', 'token of the feed, fxt_…')
    .summary('post as a terminal does, and print the answers as sentences')
    .description(
      'Post as a terminal does, and print the answers as sentences. Without a file the examples of docs/terminal-protocol.md are\n' +
        'posted: try them on a feed of its own, since it stores their bars and from then on accepts only their account. In a\n' +
        'file an empty line ends a post. The first line of each post, with session and sequence, is added here.',
    )
    .action(async (address: string, file: string | undefined, { token }: { readonly token: string }) =>
      (await import('./say.ts')).sayLines({ address, file, token }, terminal),
    )
}
