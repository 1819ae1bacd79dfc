import { terminalTokensPath } from '../../collector/sources/terminal/endpoint/terminal-tokens.ts'
import { isFeedKey } from '../../core/feeds/compound-key.ts'
import { show } from '../../core/show.ts'
import { newTerminalToken, terminalTokenDigest } from '../../platform/credentials/terminal-token.ts'
import { Fatal } from '../../platform/process/exit.ts'
import type { JsonOption } from '../options.ts'
import { json } from '../table.ts'
import { configOf, type Terminal } from '../terminal.ts'
import { addTerminalToken } from './add-terminal-token.ts'

/** Prints the token alone on standard output, so that a script can store it. */
export function makeToken(
  feed: string,
  { json: asJson, removeOlder = false }: JsonOption & { readonly removeOlder?: boolean },
  terminal: Terminal,
): void {
  if (!isFeedKey(feed)) throw new Fatal('usage', `got ${show(feed)}, wanted a feed such as BROKERA:ZERO`)
  const path = terminalTokensPath(configOf(terminal))
  const token = newTerminalToken((bytes) => terminal.clock.randomHex(bytes))
  const digest = terminalTokenDigest(token)
  const earlier = addTerminalToken({ path, feed, digest, removeOlder })
  if (asJson) return terminal.out(json({ feed, token, digest, earlier_tokens: earlier, file: path }))
  terminal.out(`${token}\n`)
  const stays = earlier === 0 ? 'No earlier token is valid.' : 'The newest earlier token stays valid.'
  terminal.err(`${feed}: its terminal may post with this token. Its digest is in ${path}. ${stays}\n`)
}
