import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SessionClient } from '../../../services/collector/connection/session-client.ts'
import { compoundKey, type FeedKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import type { EncodedSeries } from '../../../services/wire/encode-bars.ts'
import { feedManifest } from '../../support/samples/feed-manifest.ts'
import { digits } from '../support/bench-feed.ts'
import { encodeMinute } from '../support/whole-minute.ts'

export interface MarketFeed {
  readonly feed: FeedKey
  readonly names: readonly string[]
}

const feedOf = (account: string, size: number): MarketFeed => ({
  feed: feedKey('BROKERA', account),
  names: Array.from({ length: size }, (_, n) => `T${String(n).padStart(4, '0')}_CFD.US`),
})

/** The market of the specification: one feed of 1,622 symbols and three of 230. */
export const market: readonly MarketFeed[] = [
  feedOf('ALL', 1_622),
  feedOf('ONE', 230),
  feedOf('TWO', 230),
  feedOf('SIX', 230),
]

export const marketFeeds: readonly FeedKey[] = market.map(({ feed }) => feed)

export const marketSymbols: readonly string[] = market.flatMap(({ feed, names }) =>
  names.map((name) => compoundKey(feed, name)),
)

/** A folder with a manifest of each feed. */
export function makeMarketHome(resolutions: readonly string[] = ['1', '30']): {
  home: string
  discard: () => void
} {
  const home = mkdtempSync(join(tmpdir(), 'fxd-bench-'))
  mkdirSync(join(home, 'feeds'))
  for (const { feed, names } of market) {
    const [broker, account] = feed.split(':')
    const storage = { buckets: names.length > 400 ? 16 : 4 }
    const manifest = feedManifest({ broker, account, resolutions, storage })
    writeFileSync(join(home, 'feeds', `${manifest.metadata.name}.yaml`), JSON.stringify(manifest))
  }
  return { home, discard: () => rmSync(home, { recursive: true, force: true }) }
}

/** One live session for each feed, its catalogue sent. */
export async function openSessions(
  address: string,
  tokenFile: string,
  isRereadable: boolean,
): Promise<readonly SessionClient[]> {
  const token = readFileSync(tokenFile, 'utf8').trim()
  const sessions: SessionClient[] = []
  for (const { feed, names } of market) {
    const session = new SessionClient({
      address,
      identity: { token },
      hello: {
        feed,
        collectorId: 'bench',
        mode: 'SESSION_MODE_LIVE',
        terminal: 'bench',
        capabilities: isRereadable ? ['CAPABILITY_REREADABLE'] : [],
      },
      clock: systemClock,
    })
    await session.greeting
    const symbols = names.map((raw) => ({ raw, type: 'cfd', digits, session: '24x7' }))
    const { refused } = await session.catalogue(symbols, { snapshot: true })
    if (refused.length > 0) throw new Error(`the catalogue was refused: ${JSON.stringify(refused[0])}`)
    sessions.push(session)
  }
  return sessions
}

/** Sends one bar of each feed, so that its tables exist: only the first start makes them. */
export async function makeTables(sessions: readonly SessionClient[], minute: number): Promise<void> {
  for (const [index, { names }] of market.entries()) {
    const { accepted } = await (sessions[index] as SessionClient).bars(
      'LIVE',
      encodeMinute(names.slice(0, 1), minute),
    )
    if (accepted !== 1) throw new Error(`the first bar of feed ${index} was refused`)
  }
}

/**
 * Returns open times of minutes, each later than the one before. All of at most `count` minutes are closed, because
 * ingest accepts no others.
 */
export function closedMinutes(count: number): () => number {
  let last = (Math.floor(systemClock.utcMs() / 60_000) - 2 - count) * 60
  return () => (last += 60)
}

/** The messages of one minute, as `[index of the feed, series]`: one for each feed, or 40 in all. */
export function messagesOf(minute: number, count: 4 | 40): readonly [number, readonly EncodedSeries[]][] {
  const total = marketSymbols.length
  return market.flatMap(({ names }, index) => {
    const series = encodeMinute(names, minute)
    const parts = count === 4 ? 1 : Math.round((names.length / total) * count)
    const size = Math.ceil(series.length / parts)
    return Array.from({ length: parts }, (_, n): [number, readonly EncodedSeries[]] => [
      index,
      series.slice(n * size, (n + 1) * size),
    ])
  })
}
