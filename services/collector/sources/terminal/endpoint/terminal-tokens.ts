import { hash, timingSafeEqual } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FeedKey, isFeedKey } from '../../../../core/feeds/compound-key.ts'
import { show } from '../../../../core/show.ts'
import { type Config, ConfigError } from '../../../../platform/config.ts'
import { type Watched, watch } from '../../../../platform/credentials/watch.ts'
import { fileReason, pathReason } from '../../../../platform/files/path-failures.ts'
import type { Log } from '../../../../platform/log/log.ts'
import { Fatal } from '../../../../platform/process/exit.ts'
import type { Clock } from '../../../../ports/clock.ts'

/** Two while a token is replaced: the terminal still has the old one. */
const digestsPerFeedMax = 2
const linesMax = 10_000

const tokenShape = /^fxt_[0-9a-f]{32}$/
const digestShape = /^[0-9a-f]{64}$/

export const tokenDigest = (token: string): string => hash('sha256', token, 'hex')

/** The digests of each feed, the oldest first. */
export type TokenDigests = ReadonlyMap<FeedKey, readonly string[]>

export const terminalTokensPath = ({ terminalTokens, dataDir }: Pick<Config, 'terminalTokens' | 'dataDir'>) =>
  terminalTokens ?? join(dataDir, 'terminal-tokens')

/** Reads the file of FXD_TERMINAL_TOKENS; a file that does not exist has no digests. Throws `ConfigError`. */
export const readTerminalTokens = (path: string): TokenDigests => parseTokens(readTokens(path), path)

function readTokens(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new ConfigError(
      `The file ${path} (FXD_TERMINAL_TOKENS) ${fileReason(cause) ?? (cause as Error).message}.`,
    )
  }
}

export interface NewToken {
  readonly path: string
  readonly feed: FeedKey
  readonly digest: string
  /** Keeps no earlier digest of the feed; otherwise the newest one stays. */
  readonly removeOlder: boolean
}

/** Adds a digest to the file; other lines stay. Returns how many earlier ones of the feed it keeps. Throws `Fatal`. */
export function addTerminalToken({ path, feed, digest, removeOlder }: NewToken): number {
  const text = readTokens(path)
  const earlier = parseTokens(text, path).get(feed) ?? []
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

function parseTokens(text: string, path: string): TokenDigests {
  const fault = (number: number, what: string): ConfigError =>
    new ConfigError(`${path} (FXD_TERMINAL_TOKENS), line ${number}: ${what}.`)
  const digests = new Map<FeedKey, readonly string[]>()
  const lines = text.split('\n')
  if (lines.length > linesMax) throw fault(linesMax + 1, `at most ${linesMax} lines are read`)
  for (const [at, line] of lines.entries()) {
    const content = line.replace(/#.*/, '').trim()
    if (content === '') continue
    const [feed = '', digest = '', ...rest] = content.split(/\s+/)
    if (!isFeedKey(feed)) throw fault(at + 1, `got ${show(feed)}, wanted BROKER:ACCOUNT and a digest`)
    if (!digestShape.test(digest) || rest.length > 0)
      throw fault(at + 1, `${feed} needs one SHA-256 of a token, 64 hexadecimal digits in lower case`)
    const before = digests.get(feed) ?? []
    if (before.length === digestsPerFeedMax)
      throw fault(at + 1, `${feed} has more than ${digestsPerFeedMax} digests`)
    digests.set(feed, [...before, digest])
  }
  return digests
}

/** Follows the file. A file with a fault is logged, and the digests before stay in use. */
export const watchTerminalTokens = (path: string, clock: Clock, log: Log): Watched<TokenDigests> =>
  watch(() => readTerminalTokens(path), clock, {
    replaced: () => log.info({ path }, 'tokens of terminals replaced; the new ones are in use'),
    failed: (cause) =>
      log.error(
        { err: cause, path },
        'tokens of terminals rejected; the old ones stay in use; retrying every 10 s',
      ),
  })

/** The feed of a token; `undefined` for an unknown one. Each digest is compared in constant time. */
export function feedOfToken(token: string, digests: TokenDigests): FeedKey | undefined {
  if (!tokenShape.test(token)) return undefined
  const offered = hash('sha256', token, 'buffer')
  let found: FeedKey | undefined
  for (const [feed, known] of digests)
    for (const digest of known) if (timingSafeEqual(offered, Buffer.from(digest, 'hex'))) found = feed
  return found
}
