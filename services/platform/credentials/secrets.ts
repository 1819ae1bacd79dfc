import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Clock } from '../../ports/clock.ts'
import { ConfigError } from '../config/values.ts'
import { pathReason } from '../files/path-failures.ts'
import type { Log } from '../log/log.ts'
import { Fatal } from '../process/exit.ts'
import { type Watched, watch } from './watch.ts'

const valuesMax = 100

/** One value per line; `undefined`: no such file. Throws `Fatal` when it is empty or unreadable; `variable` names the file. */
export function readSecretFile(path: string, variable: string): readonly string[] | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const reason = pathReason(cause) ?? (cause as Error).message
    throw new Fatal('noPermission', `The file ${path} (${variable}) cannot be read: ${reason}.`, cause)
  }
  const values = text.split('\n').flatMap((line) => line.trim() || [])
  if (values.length === 0 || values.length > valuesMax)
    throw new Fatal(
      'system',
      `The file ${path} (${variable}) holds ${values.length} values, wanted 1 to ${valuesMax}, one per line.`,
    )
  return values
}

interface SecretText {
  readonly text: string
  /** Names the file in the error. */
  readonly what: string
  /** Suffix of the temporary file. Each writer has its own, since two may write at once. */
  readonly mark: string
}

/** Writes a file that only its owner can read. The file gets its name once it is complete, so a crash leaves no partial file there. */
export function writeSecretFile(path: string, { text, what, mark }: SecretText): void {
  const draft = `${path}.${mark}`
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true })
    renameSync(draft, path)
  } catch (cause) {
    rmSync(draft, { force: true })
    const reason = pathReason(cause) ?? (cause as Error).message
    throw new Fatal('system', `${what} cannot be written: ${reason}.`, cause)
  }
}

/** Returns the current values of a secret; none: it is not set. The first is used, all of them are accepted. */
export type Secrets = () => readonly string[]

/** The file of a secret, and the variable that names the file. */
export interface SecretPlace {
  readonly path: string
  readonly variable: string
}

/** So a secret can be rotated while the process runs: first add the new value, then remove the old one. */
export const watchSecrets = (place: SecretPlace, clock: Clock, log: Log): Watched<readonly string[]> =>
  watch(() => readSecrets(place), clock, {
    replaced: () => log.info({ variable: place.variable }, 'secret replaced; the new values are in use'),
    failed: (cause) =>
      log.error({ err: cause }, 'failed to read a secret; the old values stay in use; retrying every 10 s'),
  })

function readSecrets({ path, variable }: SecretPlace): readonly string[] {
  const values = readSecretFile(path, variable)
  if (values !== undefined) return values
  throw new ConfigError(`${variable}: there is no file at ${path}.`)
}
