import { timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FeedKey, isFeedKey } from '../../../../core/feeds/compound-key.ts'
import { show } from '../../../../core/show.ts'
import { type Config, ConfigError } from '../../../../platform/config.ts'
import { isTerminalToken, terminalTokenDigest } from '../../../../platform/credentials/terminal-token.ts'
import { type Watched, watch } from '../../../../platform/credentials/watch.ts'
import { fileReason } from '../../../../platform/files/path-failures.ts'
import type { Log } from '../../../../platform/log/log.ts'
import type { Clock } from '../../../../ports/clock.ts'

/** Two while a token is replaced: the terminal still has the old one. */
export const digestsPerFeedMax = 2
const linesMax = 10_000

const digestShape = /^[0-9a-f]{64}$/

/** The digests of each feed, in the order of the file. */
export type TokenDigests = ReadonlyMap<FeedKey, readonly string[]>

export const terminalTokensPath = ({ terminalTokens, dataDir }: Pick<Config, 'terminalTokens' | 'dataDir'>) =>
  terminalTokens ?? join(dataDir, 'terminal-tokens')

/** Reads the file of FXD_TERMINAL_TOKENS; a file that does not exist has no digests. Throws `ConfigError`. */
export const readTerminalTokens = (path: string): TokenDigests =>
  parseTerminalTokens(readTokensText(path), path)

/** The text of the file; empty for a file that does not exist. Throws `ConfigError`. */
export function readTokensText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new ConfigError(
      `The file ${path} (FXD_TERMINAL_TOKENS) ${fileReason(cause) ?? (cause as Error).message}.`,
    )
  }
}

/** Throws `ConfigError` for a line with a fault. */
export function parseTerminalTokens(text: string, path: string): TokenDigests {
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
  if (!isTerminalToken(token)) return undefined
  const offered = Buffer.from(terminalTokenDigest(token), 'hex')
  let found: FeedKey | undefined
  for (const [feed, known] of digests)
    for (const digest of known) if (timingSafeEqual(offered, Buffer.from(digest, 'hex'))) found = feed
  return found
}
