import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RoleName } from '../platform/config/role-variables.ts'
import { type Config, parseConfig, processEnvironment } from '../platform/config.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { Clock } from '../ports/clock.ts'

/** The environment of a command. Results go to `out`, text for a person goes to `err`. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Whether a person watches `err`, so that a line may be overwritten. */
  readonly watched: boolean
  /** Columns of the terminal at `err`; `undefined` when unknown. The number changes when a person resizes the terminal. */
  readonly columns?: number | undefined
  /** The person's folder: relative paths of the command line begin here. */
  readonly folder: string
  input(): AsyncIterable<Uint8Array>
  out(text: string): void
  err(text: string): void
  /** Resolves once `out` may be called again, for long output into a slow pipe. Rejects when nobody reads any more. */
  written?(): Promise<void>
}

/** Reads the configuration; with `role`, only the variables of that role. */
export const configOf = (terminal: Terminal, role?: RoleName): Config =>
  parseConfig(terminal.environment, role)

const packageFolder = fileURLToPath(new URL('../..', import.meta.url))

/** npm runs a script in the folder of its package; INIT_CWD has the folder of the person. */
function personsFolder(): string {
  const folder = process.cwd()
  const isPackage = relative(packageFolder, folder) === ''
  return (isPackage ? processEnvironment['INIT_CWD'] : undefined) ?? folder
}

export const systemTerminal: Terminal = {
  environment: processEnvironment,
  clock: systemClock,
  watched: process.stderr.isTTY === true,
  get columns() {
    return process.stderr.columns
  },
  folder: personsFolder(),
  input: () => process.stdin,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  written: () =>
    new Promise((resolve, reject) => {
      process.stdout.write('', (error) => (error ? reject(error) : resolve()))
    }),
}
