import { renameSync, rmSync, writeFileSync } from 'node:fs'
import {
  digestsPerFeedMax,
  parseTerminalTokens,
  readTokensText,
} from '../../collector/sources/terminal/endpoint/terminal-tokens.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { pathReason } from '../../platform/files/path-failures.ts'
import { Fatal } from '../../platform/process/exit.ts'

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
  const draft = `${path}.${digest.slice(0, 8)}`
  // Renamed only when complete: a crash must leave no file that refuses every terminal.
  try {
    writeFileSync(draft, `${others}${feed} ${digest}\n`, { flag: 'wx', mode: 0o600, flush: true })
    renameSync(draft, path)
  } catch (cause) {
    rmSync(draft, { force: true })
    const reason = pathReason(cause) ?? (cause as Error).message
    throw new Fatal('system', `The file ${path} (FXD_TERMINAL_TOKENS) cannot be written: ${reason}.`, cause)
  }
  return kept.length
}
