import { type Config, ConfigError } from '../config.ts'
import type { ProcessContext } from '../process-context.ts'
import { type SecretPlace, type Secrets, watchSecrets } from './secrets.ts'
import { readToken, tokenPath, tokenVariable } from './token-file.ts'

/** Where the administration token is, which processes share; `who` begins the sentence that says it is missing. */
export function neededToken(who: string, config: Config): SecretPlace {
  const path = tokenPath(config)
  if (readToken(config) !== undefined) return { path, variable: tokenVariable(config) }
  throw new ConfigError(
    `${who} needs the administration token, and there is none at ${path}: set FXD_TOKEN_FILE to a file with a long random word, the same for all.`,
  )
}

/** The secret as it is now, watched until the process stops. */
export async function startSecrets(
  { clock, log, lifecycle }: Pick<ProcessContext, 'clock' | 'log' | 'lifecycle'>,
  place: SecretPlace,
): Promise<Secrets> {
  const watched = await lifecycle.start({
    name: place.variable,
    start: () => watchSecrets(place, clock, log),
    stop: (started) => started.close(),
  })
  return watched.values
}
