import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../ports/clock.ts'
import type { Config } from './config.ts'
import { Fatal } from './exit.ts'
import { pathReason } from './folder-failure.ts'

const tokenBytes = 32

/** What of the configuration says where the token is. */
export type TokenPlace = Pick<Config, 'dataDir' | 'tokenFile'>

/** Where the token of a service lies, for the service and its clients alike. */
export const tokenPath = ({ dataDir, tokenFile }: TokenPlace): string => tokenFile ?? join(dataDir, 'token')

/** The token, or `undefined` when there is no such file. */
export function readToken(place: TokenPlace): string | undefined {
  const path = tokenPath(place)
  try {
    const token = readFileSync(path, 'utf8').trim()
    if (token !== '') return token
    throw new Fatal('system', `The token file ${path} is empty; delete it and start the service again.`)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (cause instanceof Fatal) throw cause
    const variable = place.tokenFile === undefined ? 'FXD_DATA_DIR' : 'FXD_TOKEN_FILE'
    const reason = pathReason(cause) ?? (cause as Error).message
    throw new Fatal('noPermission', `The token file ${path} (${variable}) cannot be read: ${reason}.`, cause)
  }
}

/** The token, made at the first start and readable for its owner only. */
export function ensureToken(place: TokenPlace, clock: Clock): string {
  const existing = readToken(place)
  if (existing !== undefined) return existing
  const token = clock.randomHex(tokenBytes)
  // Never opened for others in between, and never half written over a token that clients know already.
  const file = openSync(tokenPath(place), 'wx', 0o600)
  try {
    writeSync(file, `${token}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return token
}
