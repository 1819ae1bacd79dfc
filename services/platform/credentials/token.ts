import { join } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import { type Config, ConfigError } from '../config.ts'
import type { ProcessContext } from '../process/process-context.ts'
import { readSecretFile, type SecretPlace, type Secrets, watchSecrets, writeSecretFile } from './secrets.ts'

const tokenBytes = 32
/** Two processes may start at once. */
const markBytes = 4

type TokenPlace = Pick<Config, 'dataDir' | 'tokenFile'>

/** Path of the token of a service, for the service and its clients alike. */
export const tokenPath = ({ dataDir, tokenFile }: TokenPlace): string => tokenFile ?? join(dataDir, 'token')

const tokenVariable = ({ tokenFile }: TokenPlace): string =>
  tokenFile === undefined ? 'FXD_DATA_DIR' : 'FXD_TOKEN_FILE'

/** The token, or `undefined` when there is no such file. */
export const readToken = (place: TokenPlace): string | undefined =>
  readSecretFile(tokenPath(place), tokenVariable(place))?.[0]

/** Returns the token; creates its file when there is none, readable by its owner only. Throws `Fatal`. */
export const ensureToken = (place: TokenPlace, clock: Clock): string =>
  ensureSecret({ path: tokenPath(place), variable: tokenVariable(place) }, clock)

function ensureSecret({ path, variable }: SecretPlace, clock: Clock): string {
  const existing = readSecretFile(path, variable)?.[0]
  if (existing !== undefined) return existing
  const token = clock.randomHex(tokenBytes)
  // Every later start would reject an empty token.
  writeSecretFile(path, {
    text: `${token}\n`,
    what: `The token ${path} (${variable})`,
    mark: clock.randomHex(markBytes),
  })
  return token
}

export function ownToken(place: TokenPlace, clock: Clock): SecretPlace {
  ensureToken(place, clock)
  return { path: tokenPath(place), variable: tokenVariable(place) }
}

/** Path of the file of chart keys in the data folder, which is made when there is none. */
export function ownChartKeys(dataDir: string, clock: Clock): string {
  const path = join(dataDir, 'chart-keys')
  ensureSecret({ path, variable: 'FXD_DATA_DIR' }, clock)
  return path
}

/** Path of the administration token that all processes share. Throws `ConfigError` that `who` needs it. */
export function neededToken(who: string, config: Config): SecretPlace {
  const path = tokenPath(config)
  if (readToken(config) !== undefined) return { path, variable: tokenVariable(config) }
  throw new ConfigError(
    `${who} needs the administration token, and there is no file at ${path}. Set FXD_TOKEN_FILE to a file with a long random word, the same file for all processes.`,
  )
}

/** The current values of the secret, watched until the process stops. */
export async function startSecrets(
  { clock, log, lifecycle }: Pick<ProcessContext, 'clock' | 'log' | 'lifecycle'>,
  place: SecretPlace,
): Promise<Secrets> {
  const watched = await lifecycle.start({
    name: place.variable,
    start: () => watchSecrets(place, clock, log),
    stop: (started) => started.close(),
  })
  return () => watched.value
}
