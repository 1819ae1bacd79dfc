import type { Command } from 'commander'
import type { FeedOptions } from './feeds-actions.ts'
import { withJson } from './options.ts'
import type { Terminal } from './terminal.ts'

const actions = () => import('./feeds-actions.ts')

export function addFeeds(program: Command, terminal: Terminal): void {
  const feeds = program
    .command('feeds')
    .helpCommand(false)
    .summary('look at feeds, issue tokens for their collectors, purge those that are gone')
    .description(
      'Look at feeds. They are defined by the Feed manifests of FXD_FEEDS, or in Kubernetes by Feed objects.',
    )

  withJson(feeds.command('list'))
    .summary('list all feeds')
    .description('List all feeds; "hidden" ones have no manifest any more, their bars are still there.')
    .action(async (options: FeedOptions) => (await actions()).listFeeds(options, terminal))

  withJson(feeds.command('show').argument('<feed>', 'such as BROKERA:ZERO'))
    .summary('show one feed')
    .description('Show one feed with its manifest and its symbols.')
    .action(async (key: string, options: FeedOptions) => (await actions()).showFeed(key, options, terminal))

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
    .action(async (keys: readonly string[], options: FeedOptions & { expires: string }) =>
      (await actions()).issueToken(keys, options, terminal),
    )

  withJson(feeds.command('purge').argument('<feed>', 'such as BROKERA:ZERO'))
    .summary('remove the bars of a feed that is gone')
    .description('Remove all bars of a feed that no manifest names any more. They cannot be brought back.')
    .action(async (key: string, options: FeedOptions) => (await actions()).purgeFeed(key, options, terminal))

  withJson(feeds.command('owner').argument('<owner>', 'operator or manifests'))
    .summary('hand all feeds over to the operator, or back to manifests')
    .description(
      'Hand all feeds over. With "operator" Feed objects of Kubernetes take them, and an ingest whose FXD_FEEDS ' +
        'names one of them does not start. With "manifests" FXD_FEEDS decides again. Bars, symbols and keys stay.',
    )
    .action(async (owner: string, options: FeedOptions) =>
      (await actions()).setFeedsOwner(owner, options, terminal),
    )
}
