import { run } from './cli/run.ts'
import { systemTerminal } from './cli/terminal.ts'

// A reader that has seen enough (`fxd keys list | head -1`) is no failure.
process.stdout.on('error', () => process.exit())

process.exitCode = await run(process.argv.slice(2), systemTerminal)
