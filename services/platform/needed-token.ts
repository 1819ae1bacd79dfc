import { type Config, ConfigError } from './config.ts'
import { readToken, tokenPath } from './token-file.ts'

/** The administration token, which processes share; `who` begins the sentence that says it is missing. */
export function neededToken(who: string, config: Config): string {
  const token = readToken(config)
  if (token !== undefined) return token
  throw new ConfigError(
    `${who} needs the administration token, and there is none at ${tokenPath(config)}: set FXD_TOKEN_FILE to a file with a long random word, the same for all.`,
  )
}
