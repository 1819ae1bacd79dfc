import type { Command } from 'commander'
import { type JsonOption, withJson } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { showClock } from './clock.ts'
import { feedTerminal, issueToken, listFeeds, purgeFeed, setFeedsOwner, showFeed } from './feeds-actions.ts'

export function addFeeds(program: Command, terminal: Terminal): void {
  const feeds = program
    .command('feeds')
    .helpCommand(false)
    .summary('show feeds, issue tokens for their collectors, purge removed feeds')
    .description(
      'Show feeds. The Feed manifests of FXD_FEEDS define them, or in Kubernetes the Feed objects.',
    )

  withJson(feeds.command('list'))
    .summary('list all feeds')
    .description('List all feeds. A "hidden" feed has no manifest any more; its bars are still stored.')
    .action((options: JsonOption) => listFeeds(options, terminal))

  withJson(feeds.command('show').argument('<feed>', 'such as BROKERA:ZERO'))
    .summary('show one feed')
    .description('Show one feed with its manifest and its symbols.')
    .action((key: string, options: JsonOption) => showFeed(key, options, terminal))

  withJson(feeds.command('clock').argument('<feed>', 'such as BROKERA:ZERO'))
    .summary('show the offsets of the clock of a feed')
    .description(
      'Show the offsets of the clock of a feed from UTC, and since when each is in effect. Bars keep the times with which they came:\n' +
        'real_utc = time + offset holds with the offset that was in effect then.',
    )
    .action((key: string, options: JsonOption) => showClock(key, options, terminal))

  withJson(feeds.command('token').argument('<feed...>', 'such as BROKERA:ZERO'))
    .summary('issue a token for the collector of a feed')
    .description(
      'Issue a token with which a collector may push these feeds and do nothing else. It is printed once and not stored. ' +
        'To revoke it early, remove the key that signed it.',
    )
    .option(
      '--expires <when>',
      'a time (30s, 15m, 1h, 90d, 2w), a date (the end of that UTC day) or an instant',
      '90d',
    )
    .action((keys: readonly string[], options: JsonOption & { expires: string }) =>
      issueToken(keys, options, terminal),
    )

  withJson(feeds.command('terminal').argument('<feed>', 'such as BROKERA:ZERO'))
    .option('--accept', 'accept the next terminal, whatever its account')
    .summary('show which terminal a feed accepts, or accept another one')
    .description(
      'Show which terminal a feed with source Terminal accepts: company, server and a digest of the account. That is the first one\n' +
        'that posted. With --accept the feed accepts the next one, within seconds; stop the earlier one first.',
    )
    .action((key: string, options: JsonOption & { readonly accept?: boolean }) =>
      feedTerminal(key, options, terminal),
    )

  withJson(feeds.command('purge').argument('<feed>', 'such as BROKERA:ZERO'))
    .summary('remove the bars of a removed feed')
    .description('Remove all bars of a feed that no manifest names any more. They cannot be brought back.')
    .action((key: string, options: JsonOption) => purgeFeed(key, options, terminal))

  withJson(feeds.command('owner').argument('<owner>', 'operator or manifests'))
    .summary('set the owner of all feeds: the operator or manifests')
    .description(
      'Set the owner of all feeds. With "operator" the Feed objects of Kubernetes define them, and an ' +
        'ingest whose FXD_FEEDS names one of them does not start. With "manifests" FXD_FEEDS defines them. ' +
        'Bars, symbols and keys stay.',
    )
    .action((owner: string, options: JsonOption) => setFeedsOwner(owner, options, terminal))
}
