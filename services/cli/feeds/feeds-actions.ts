import type { Feed__Output } from '../../wire/gen/fxd/v1/Feed.ts'
import { readPages } from '../../wire/read-pages.ts'
import type { JsonOption } from '../options.ts'
import { fields, json, table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { instantText, minuteText } from '../time-text.ts'
import { withRegistry } from '../with-registry.ts'

const feedJson = (feed: Feed__Output) => ({
  feed: feed.key,
  description: feed.description,
  hidden: feed.hidden,
  source: feed.source,
  status: feed.status,
  liveness_source: feed.livenessSource,
  last_candle_time: feed.lastBarTime ?? null,
  symbol_count: feed.symbolCount,
})

/** Bar times are on the feed's clock and are shown without conversion. */
const barTime = (seconds: number | undefined): string => (seconds === undefined ? '-' : minuteText(seconds))

const statusText = (feed: Feed__Output): string => (feed.hidden ? 'hidden' : feed.status)

export const listFeeds = (options: JsonOption, terminal: Terminal): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const pages = await readPages((after) => registry.call('ListFeeds', { after }))
    const feeds = pages.flatMap((page) => page.feeds)
    if (options.json) return terminal.out(json(feeds.map(feedJson)))
    const rows = feeds.map((feed) => [
      feed.key,
      statusText(feed),
      feed.source,
      String(feed.symbolCount),
      barTime(feed.lastBarTime),
      feed.description,
    ])
    terminal.out(table(['FEED', 'STATUS', 'SOURCE', 'SYMBOLS', 'NEWEST BAR', 'DESCRIPTION'], rows))
  })

export const showFeed = (key: string, options: JsonOption, terminal: Terminal): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const feed = await registry.call('GetFeed', { key })
    const symbols = [...feed.symbols]
    const reading = new Set(feed.reading)
    const withoutBars = new Set(feed.withoutBars)
    const manyWindows = [...feed.manyWindows]
    const lacking = new Map(lackingOf(feed))
    for (let next = feed.nextSymbol; next !== ''; ) {
      const page = await registry.call('GetFeed', { key, afterSymbol: next })
      symbols.push(...page.symbols)
      for (const symbol of page.reading) reading.add(symbol)
      for (const symbol of page.withoutBars) withoutBars.add(symbol)
      manyWindows.push(...page.manyWindows)
      for (const [symbol, resolutions] of lackingOf(page)) lacking.set(symbol, resolutions)
      next = page.nextSymbol
    }
    const manifest = JSON.parse(feed.definitionJson) as unknown
    if (options.json)
      return terminal.out(
        json({
          ...feedJson(feed),
          symbols,
          reading: [...reading],
          without_bars: [...withoutBars],
          resolutions_without_bars: Object.fromEntries(lacking),
          many_windows: manyWindows,
          rejected_lines: feed.rejectedLines ?? null,
          readjusted_symbols: feed.readjustedSymbols ?? null,
          readjustments_held: feed.readjustmentsHeld,
          manifest,
        }),
      )
    const { stringify } = await import('yaml')
    const stateOf = (symbol: string): string => {
      if (reading.has(symbol)) return '  (its history is being read for the first time)'
      if (withoutBars.has(symbol)) return '  (no bars yet)'
      const resolutions = lacking.get(symbol)
      return resolutions ? `  (no bars of ${resolutions.join(', ')})` : ''
    }
    const head = fields([
      ['feed', feed.key],
      ['status', statusText(feed)],
      ['liveness source', feed.livenessSource],
      ['newest bar', `${barTime(feed.lastBarTime)} (the feed's clock)`],
      ['symbols', String(feed.symbolCount)],
      ...rejectedField(feed.rejectedLines),
      ...readjustedField(feed),
    ])
    const many = manyWindows.map(
      ({ symbol, resolution, count }) =>
        `${symbol || 'all symbols'} at ${resolution}: ${count} separate windows; join the windows that its collector sends\n`,
    )
    const listed = symbols.map((symbol) => `${symbol}${stateOf(symbol)}\n`)
    terminal.out(`${head}\n${stringify(manifest)}\n${[...listed, ...many].join('')}`)
  })

/** The resolutions without bars of each symbol of a page. Symbols without any bar are left out. */
const lackingOf = (feed: Feed__Output): (readonly [string, readonly string[]])[] =>
  feed.resolutionsWithoutBars.flatMap(({ resolutions, symbols }) =>
    symbols.map((position) => [feed.symbols[position] ?? '', resolutions] as const),
  )

/** Not shown for a source without files, and while another ingest has the session of the feed. */
const rejectedField = (lines: number | undefined): [string, string][] =>
  lines === undefined
    ? []
    : [['rejected lines', lines === 0 ? '0' : `${lines} (the log of the collector has their reasons)`]]

export const feedTerminal = (
  key: string,
  { accept = false, json: asJson }: JsonOption & { readonly accept?: boolean },
  terminal: Terminal,
): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const { terminalIdentity: identity } = accept
      ? await registry.call('AcceptTerminal', { key })
      : await registry.call('GetFeed', { key })
    if (asJson)
      return terminal.out(json({ feed: key, [accept ? 'terminal_before' : 'terminal']: identity ?? null }))
    const next = `${key} accepts the next terminal that posts.`
    if (accept)
      terminal.out(
        identity === undefined
          ? `${next} It had none before.\n`
          : `${next} Before, it accepted ${identity}: stop that one first.\n`,
      )
    else terminal.out(identity === undefined ? `${next}\n` : `${key} accepts ${identity} only.\n`)
  })

/** Not shown for a collector that looks for none, and while another ingest has the session of the feed. */
const readjustedField = ({ key, readjustedSymbols, readjustmentsHeld }: Feed__Output): [string, string][] =>
  readjustedSymbols === undefined
    ? []
    : [
        [
          'readjusted symbols',
          `${readjustedSymbols}${readjustmentsHeld ? ` (too many in one day: none is read again until \`fxd backfill ${key}\`)` : ''}`,
        ],
      ]

export const purgeFeed = (key: string, options: JsonOption, terminal: Terminal): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const { series } = await registry.call('PurgeFeed', { key })
    terminal.out(
      options.json ? json({ feed: key, series }) : `${key}: the bars of ${series} series are removed.\n`,
    )
  })

/** Prints the token alone on standard output, so that a script can store it for its collector. */
export const issueToken = (
  feeds: readonly string[],
  options: JsonOption & { readonly expires: string },
  terminal: Terminal,
): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const { token, expiresAt } = await registry.call('IssueFeedToken', {
      feeds: [...feeds],
      expires: options.expires,
    })
    const expires = instantText(expiresAt)
    if (options.json) return terminal.out(json({ token, feeds, expires_at: expires }))
    terminal.out(`${token}\n`)
    terminal.err(
      `${feeds.join(', ')}: this token may push until ${expires}; FXD_TOKEN_FILE names its file.\n`,
    )
  })

export const setFeedsOwner = (owner: string, options: JsonOption, terminal: Terminal): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const { changed } = await registry.call('SetFeedsOwner', { owner })
    const whose = owner === 'operator' ? 'the operator' : 'manifests'
    terminal.out(options.json ? json({ owner, changed }) : `${changed} feeds now belong to ${whose}.\n`)
  })
