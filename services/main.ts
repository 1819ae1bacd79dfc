import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// Halves the start of every command; where the folder cannot be written it is simply not used.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compile'))

// A reader that has seen enough (`fxd keys list | head -1`) is no failure.
process.stdout.on('error', () => process.exit())
// Nobody is left to be told that what is told here cannot be told.
process.stderr.on('error', () => undefined)

const [{ run }, { systemTerminal }] = await Promise.all([import('./cli/run.ts'), import('./cli/terminal.ts')])
process.exitCode = await run(process.argv.slice(2), systemTerminal)
