import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { exitCodes } from './platform/process/exit.ts'

// Halves the start time of every command; a folder that cannot be written is ignored.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compile'))

// A reader that closes the pipe early (`fxd keys list | head -1`) is not a failure.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit()
  process.stderr.write(`fxd: the output is incomplete: ${message}\n`)
  process.exit(exitCodes.system)
})
// If stderr fails, there is no place left to report it.
process.stderr.on('error', () => undefined)

const [{ run }, { systemTerminal }] = await Promise.all([import('./cli/run.ts'), import('./cli/terminal.ts')])
process.exitCode = await run(process.argv.slice(2), systemTerminal)
// Connections and threads of a failed start must not keep the process running.
if (process.exitCode !== 0) process.exit()
