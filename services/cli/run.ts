import { Command, CommanderError } from 'commander'
import { type ExitName, exitCodes, exitMeanings, Fatal } from '../platform/process/exit.ts'
import { packageVersion } from '../platform/version.ts'
import { addCollectorCheck } from './collector-check.ts'
import { addConfig } from './config.ts'
import { addDoctor } from './doctor.ts'
import { addBackfill } from './feeds/backfill.ts'
import { addFeeds } from './feeds/feeds.ts'
import { addSymbols } from './feeds/symbols.ts'
import { addImport } from './import/command.ts'
import { addKeys } from './keys/keys.ts'
import { addAll } from './roles/all.ts'
import { addRoles } from './roles/roles.ts'
import { addStore } from './store/store.ts'
import type { Terminal } from './terminal.ts'
import { addTerminals } from './terminals/terminals.ts'
import { addWatch } from './watch.ts'

/** One entry per command, in the order of `--help`. Each loads its dependencies only when it runs. */
const commands: readonly ((program: Command, terminal: Terminal) => void)[] = [
  addAll,
  addRoles,
  addCollectorCheck,
  addKeys,
  addFeeds,
  addSymbols,
  addTerminals,
  addStore,
  addImport,
  addBackfill,
  addWatch,
  addConfig,
  addDoctor,
]

/** Runs one command line (without node and script); resolves with the exit code and never rejects. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const program = createProgram(terminal)
    await program.parseAsync(withHelpWord(args, program), { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    if (error instanceof Fatal) {
      terminal.err(`fxd: ${error.message}\n`)
      return exitCodes[error.exit]
    }
    terminal.err(`fxd: a defect: ${error instanceof Error ? error.stack : String(error)}\n`)
    return exitCodes.internal
  }
}

/**
 * Converts the word `help` to `--help`: `fxd help keys create`, `fxd keys help`, and as the only argument, `fxd import help`.
 * With an unknown command the word `help` is removed, so that the command is refused.
 */
function withHelpWord(args: readonly string[], program: Command): readonly string[] {
  let command: Command | undefined = program
  for (const [at, arg] of args.entries()) {
    const isWord = command.commands.length > 0 || at === args.length - 1
    if (arg === 'help' && isWord) {
      const others = args.toSpliced(at, 1)
      return hasUnknown(others, program) ? others : [...others, '--help']
    }
    command = command.commands.find((each) => each.name() === arg)
    if (command === undefined) return args
  }
  return args
}

/** Whether a word stands where a command must be, and no command has this name. */
function hasUnknown([word, ...others]: readonly string[], parent: Command): boolean {
  if (parent.commands.length === 0) return false
  if (word === undefined || word === 'help' || word.startsWith('-')) return false
  const command = parent.commands.find((each) => each.name() === word)
  return command === undefined || hasUnknown(others, command)
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('fxd')
    .description('A market data service: bars of trading instruments over REST and WebSocket.')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('(--help lists the options)')
    .configureOutput({
      writeOut: (text) => terminal.out(withEnd(text)),
      writeErr: (text) => terminal.err(withEnd(text.replace(/^error: /, 'fxd: '))),
    })
    .addHelpText('after', exitHelp)
  for (const add of commands) add(program, terminal)
  return program
}

const withEnd = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)

function exitHelp(): string {
  const rows = Object.entries(exitMeanings).map(
    ([name, meaning]) => `  ${String(exitCodes[name as ExitName]).padStart(2)}  ${meaning}`,
  )
  return `\n"fxd help COMMAND" explains one command.\nVariables: "fxd config" lists them.\n\nExit codes:\n${rows.join('\n')}`
}
