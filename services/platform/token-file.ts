import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../ports/clock.ts'
import { Fatal } from './exit.ts'

const tokenBytes = 32

/** Where the administration token of a service lies, for the service and the command line alike. */
export const tokenPath = (dataDir: string): string => join(dataDir, 'token')

/** The token, or `undefined` when there is no such file. */
export function readToken(dataDir: string): string | undefined {
  const path = tokenPath(dataDir)
  try {
    const token = readFileSync(path, 'utf8').trim()
    if (token !== '') return token
    throw new Fatal('system', `The token file ${path} is empty; delete it and start the service again.`)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (cause instanceof Fatal) throw cause
    throw new Fatal(
      'noPermission',
      `The token file ${path} cannot be read: ${(cause as Error).message}.`,
      cause,
    )
  }
}

/** The token of the data folder, made at the first start and readable for its owner only. */
export function ensureToken(dataDir: string, clock: Clock): string {
  const existing = readToken(dataDir)
  if (existing !== undefined) return existing
  const token = clock.randomHex(tokenBytes)
  // Never opened for others in between, and never half written over a token that clients know already.
  const file = openSync(tokenPath(dataDir), 'wx', 0o600)
  try {
    writeSync(file, `${token}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return token
}
