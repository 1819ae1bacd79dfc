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
const end = (): void => {
  // Printed here, because the child cannot while it installs a program.
  if (!child.killed) process.stdout.write('Ending…\n')
  child.kill('SIGTERM')
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
child.on('exit', (code) => process.exit(code ?? 1))
