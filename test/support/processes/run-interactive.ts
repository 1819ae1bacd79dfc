import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

/**
 * `run-interactive.ts FILE`: runs a file that starts many processes for interactive use. A terminal sends Ctrl-C to
 * all processes at once. Here only the process of the file gets a signal, SIGTERM, and ends the others in order.
 */
const [file = ''] = process.argv.slice(2)
const child = spawn(process.execPath, [resolve(file)], {
  detached: true,
  // Any end of this process closes the input of the child, which then ends all its processes.
  stdio: ['pipe', 'inherit', 'inherit'],
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGTERM'))
child.on('exit', (code) => process.exit(code ?? 1))
