import {
  digestsPerFeedMax,
  parseTerminalTokens,
  readTokensText,
} from '../../collector/sources/terminal/endpoint/terminal-tokens.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { writeSecretFile } from '../../platform/credentials/secrets.ts'

interface NewToken {
  readonly path: string
  readonly feed: FeedKey
  readonly digest: string
  /** Keeps no earlier digest of the feed; otherwise the newest one stays. */
  readonly removeOlder: boolean
}

/** Adds a digest to the file; other lines stay. Returns how many earlier ones of the feed it keeps. Throws `Fatal`. */
export function addTerminalToken({ path, feed, digest, removeOlder }: NewToken): number {
  const text = readTokensText(path)
  const earlier = parseTerminalTokens(text, path).get(feed) ?? []
  const kept = removeOlder ? [] : earlier.slice(-(digestsPerFeedMax - 1))
  const removed = earlier.slice(0, earlier.length - kept.length)
  const lines = text.split('\n').filter((line) => !removed.some((old) => line.includes(old)))
  const others = lines.join('\n').replace(/([^\n])$/, '$1\n')
  // A part of the file would refuse every terminal.
  writeSecretFile(path, {
    text: `${others}${feed} ${digest}\n`,
    what: `The file ${path} (FXD_TERMINAL_TOKENS)`,
    mark: digest.slice(0, 8),
  })
  return kept.length
}
