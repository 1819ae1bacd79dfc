import {
  addTerminalToken,
  terminalTokensPath,
  tokenDigest,
} from '../../collector/sources/terminal/endpoint/terminal-tokens.ts'
import { isFeedKey } from '../../core/feeds/compound-key.ts'
import { show } from '../../core/show.ts'
import { Fatal } from '../../platform/process/exit.ts'
import type { JsonOption } from '../options.ts'
import { json } from '../table.ts'
import { configOf, type Terminal } from '../terminal.ts'

const tokenBytes = 16

/** Prints the token alone on standard output, so that a script can store it. */
export function makeToken(
  feed: string,
  { json: asJson, removeOlder = false }: JsonOption & { readonly removeOlder?: boolean },
  terminal: Terminal,
): void {
  if (!isFeedKey(feed)) throw new Fatal('usage', `got ${show(feed)}, wanted a feed such as BROKERA:ZERO`)
  const path = terminalTokensPath(configOf(terminal))
  const token = `fxt_${terminal.clock.randomHex(tokenBytes)}`
  const digest = tokenDigest(token)
  const earlier = addTerminalToken({ path, feed, digest, removeOlder })
  if (asJson) return terminal.out(json({ feed, token, digest, earlier_tokens: earlier, file: path }))
  terminal.out(`${token}\n`)
  const stays = earlier === 0 ? 'No earlier token is valid.' : 'The newest earlier token stays valid.'
  terminal.err(`${feed}: its terminal may post with this token. Its digest is in ${path}. ${stays}\n`)
}
