import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

/**
 * `run-for-a-person.ts FILE`: runs what starts many processes for a person to look at. A terminal sends Ctrl-C to all
 * processes at once; here the file's process gets SIGTERM, and ends the others in order.
 */
const [file = ''] = process.argv.slice(2)
const child = spawn(process.execPath, [resolve(file)], {
  detached: true,
  // When this process ends, however it does, the child's input ends, and with it what it started.
  stdio: ['pipe', 'inherit', 'inherit'],
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGTERM'))
child.on('exit', (code) => process.exit(code ?? 1))
