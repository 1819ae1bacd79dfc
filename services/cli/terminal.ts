import { type Config, parseConfig, processEnvironment } from '../platform/config.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { Clock } from '../ports/clock.ts'

/** What a command has of the world. Results go out, words for a person go to err. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Whether a person watches err, so that a line may be drawn over. */
  readonly watched: boolean
  out(text: string): void
  err(text: string): void
}

export const configOf = (terminal: Terminal): Config => parseConfig(terminal.environment)

export const systemTerminal: Terminal = {
  environment: processEnvironment,
  clock: systemClock,
  watched: process.stderr.isTTY === true,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
}
